/** The store is wiped, or loses a part: what went with it is no proof of anything (promise 1), and what can be shown again is. */

import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { connectRedis, type Redis } from '../src/store/redis.js';
import { refreshSignal } from '../workflows/messages.js';
import { accept, asked, deployTo, exampleLegs, outcome, start } from './harness/conversation.js';
import { silentLog } from './harness/fresh-store.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';
import { signal } from './harness/temporal.js';

let parley: Parley;
let silent: ScriptedServer;
beforeAll(async () => {
  silent = await scriptedServer([tool('slow')], () => undefined);
  const policy = { legDeadline: 'PT3S', maxConnectAttempts: 1 };
  parley = await startParley({ servers: [{ id: 'silent', url: silent.url, policy }] });
});
afterAll(async () => {
  await parley?.stop();
  await silent?.close();
});

it('a leg that was sent is never called unsent because the store that knew of it was wiped [P1]', async () => {
  const id = await start(parley, { server: 'silent', tool: 'slow' });
  await until(() => silent.calls.length === 1);
  await parley.process('worker').kill();
  await wipe(`${parley.env['PARLEY_REDIS_PREFIX']}:*`);
  await parley.start('worker');
  const closed = await until(async () => {
    const { status, body } = await parley.api(`/v1/invocations/${id}`);
    return status === 200 && body.outcome !== null ? body : undefined;
  }, 30_000);
  expect(closed).toMatchObject({ outcome: 'indeterminate', reason: 'leg_unknown' });
  expect(silent.calls).toHaveLength(1);
}, 60_000);

it('a leg that was sent is not sent again because a restored store knows nothing of it, and the worker that sent it is gone [P1]', async () => {
  const id = await start(parley, { server: 'silent', tool: 'slow' });
  const sends = () => silent.calls.filter((call) => call.id.startsWith(id)).length;
  await until(() => sends() === 1);
  // Its worker tells Temporal that it has begun.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await parley.process('worker').kill();
  const prefix = parley.env['PARLEY_REDIS_PREFIX'];
  await wipe(`${prefix}:ledger:t1:${id}`);
  await onStore((redis) => redis.decr(`${prefix}:clock`));
  await parley.start('worker');
  expect(await outcome(parley, id, 30_000)).toMatchObject({ outcome: 'indeterminate', reason: 'leg_unknown' });
  expect(sends()).toBe(1);
}, 60_000);

it('a question that the store has lost is shown again under the same id, and its answer counts [P2] [P3]', async () => {
  const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'shown again' } });
  const consent = await asked(parley, id);
  await wipe(`${parley.env['PARLEY_REDIS_PREFIX']}:*${consent.id}*`);
  await wipe(`${parley.env['PARLEY_REDIS_PREFIX']}:record*${id}*`);
  expect((await parley.api(`/v1/invocations/${id}`)).status).toBe(404);
  await signal(id, refreshSignal);
  const again = await until(async () => {
    const reply = await parley.api(`/v1/consents/${consent.id}`);
    return reply.status === 200 ? reply.body : undefined;
  });
  expect(again).toEqual(consent);
  await accept(parley, again, deployTo('staging'));
  expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
});

it('a call whose ledger is lost is closed, and the question withdrawn, before anybody answers it in vain [P1]', async () => {
  const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'lost' } });
  await asked(parley, id);
  await wipe(`${parley.env['PARLEY_REDIS_PREFIX']}:*`);
  await signal(id, refreshSignal);
  const closed = await until(async () => {
    const { status, body } = await parley.api(`/v1/invocations/${id}`);
    return status === 200 && body.outcome !== null ? body : undefined;
  });
  expect(closed).toMatchObject({ outcome: 'binding_lost', reason: 'ledger_lost', consent: null });
  expect(exampleLegs(parley, id)).toHaveLength(1);
});

async function wipe(pattern: string): Promise<void> {
  await onStore(async (redis) => {
    for await (const names of redis.scanIterator({ MATCH: pattern, COUNT: 1_000 })) if (names.length > 0) await redis.del(names);
  });
}

async function onStore(act: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = await connectRedis(inject('redisUrl'), silentLog);
  await act(redis);
  redis.destroy();
}
