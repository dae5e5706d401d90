/** Calls that wait until somebody has acted: renewed a credential, lifted a hold. */

import { rm, writeFile } from 'node:fs/promises';
import { refreshSignal, resumeSignal } from '../../workflows/messages.js';
import { auditOf, invocation } from '../harness/conversation.js';
import { until, type Parley } from '../harness/parley.js';
import { atTemporal, calling, cancel, hold, onStore, over, release, resume, type Paths, type Place } from './place.js';

const waitsFor = async (parley: Parley, id: string, reason: string): Promise<void> =>
  void (await until(async () => (await invocation(parley, id)).reason === reason));

const waits = async (parley: Parley, id: string): Promise<number> =>
  (await auditOf(parley, id)).filter((event) => event.type === 'call_waiting').length;

/** A call that waits for a credential that its server takes. */
async function refusedCredential({ parley, tokenFile }: Place, name: string, policy: object = {}): Promise<string> {
  await writeFile(tokenFile, 'stale');
  return calling(parley, name, { server: 'guarded', policy });
}

async function renew({ parley, tokenFile }: Place, id: string): Promise<string> {
  await writeFile(tokenFile, 'good');
  await resume(parley, id);
  return over(parley, id);
}

export const pathsOfWaits: Paths = {
  'credential renewed': async (place) => {
    const { parley, tokenFile } = place;
    const id = await refusedCredential(place, 'guards');
    await waitsFor(parley, id, 'reauthorization_required');
    await rm(tokenFile);
    await resume(parley, id);
    await until(async () => (await waits(parley, id)) === 2);
    return renew(place, id);
  },
  'credential not renewed': async (place) =>
    over(place.parley, await refusedCredential(place, 'guards', { roundDeadline: 'PT1S' })),
  'resumed before it waited': async (place) => {
    const { parley } = place;
    const id = await refusedCredential(place, 'guards_late');
    await until(async () => (await auditOf(parley, id)).some((event) => event.type === 'leg_submitted'));
    await atTemporal(parley, id, (handle) => handle.signal(resumeSignal));
    await waitsFor(parley, id, 'reauthorization_required');
    return renew(place, id);
  },
  'cancelled while it waits for a credential': async (place) => {
    const { parley } = place;
    const id = await refusedCredential(place, 'guards');
    await waitsFor(parley, id, 'reauthorization_required');
    await cancel(parley, id);
    return over(parley, id);
  },
  'held and released': async ({ parley }) => {
    await hold(parley, 'paths');
    const id = await calling(parley, 'completes');
    await waitsFor(parley, id, 'server_held');
    await release(parley, 'paths');
    await resume(parley, id);
    return over(parley, id);
  },
  'held, and shown again, until the call is over': async ({ parley }) => {
    await hold(parley, 'paths');
    const id = await calling(parley, 'completes', { policy: { callDeadline: 'PT4S' } });
    await waitsFor(parley, id, 'server_held');
    await atTemporal(parley, id, (handle) => handle.signal(refreshSignal));
    await over(parley, id);
    await release(parley, 'paths');
    return id;
  },
};

export const slowPathsOfWaits: Paths = {
  // Nobody is told, so that the call looks again by itself, after a minute.
  'held, and looked at again': async ({ parley }) => {
    await hold(parley, 'paths');
    const id = await calling(parley, 'completes');
    await waitsFor(parley, id, 'server_held');
    await onStore(parley, (redis, keys) => redis.del(keys.serverHold('paths')));
    await until(async () => (await invocation(parley, id)).outcome, 90_000);
    return id;
  },
};
