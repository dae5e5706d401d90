/** Calls that go on in a new run, and calls whose worker or store does not. */

import { resolve } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { refreshSignal } from '../../workflows/messages.js';
import { accept, answer, asked, auditOf } from '../harness/conversation.js';
import { until, type Parley } from '../harness/parley.js';
import { dataConverter } from './keys.js';
import { atTemporal, calling, eventsOf, onStore, over, parked, yes, type Paths } from './place.js';

/** Workflows go on as far as they can, while nobody takes their legs. */
async function withoutLegs<T>(parley: Parley, act: () => Promise<T>): Promise<T> {
  const connection = await NativeConnection.connect({ address: parley.env['TEMPORAL_ADDRESS'] ?? '' });
  const worker = await Worker.create({
    connection,
    taskQueue: `${parley.env['PARLEY_TASK_QUEUE']}-calls`,
    workflowBundle: { codePath: resolve(import.meta.dirname, '../../dist/workflow-bundle.js') },
    dataConverter: await dataConverter(),
  });
  try {
    return await worker.runUntil(act);
  } finally {
    await connection.close();
  }
}

async function wipe(parley: Parley): Promise<void> {
  await onStore(parley, async (redis) => {
    for await (const names of redis.scanIterator({ MATCH: `${parley.env['PARLEY_REDIS_PREFIX']}:*`, COUNT: 1_000 }))
      if (names.length > 0) await redis.del(names);
  });
}

async function killedOnTheWire(parley: Parley, server: string): Promise<string> {
  const id = await calling(parley, 'is_silent', { server });
  await until(async () => (await auditOf(parley, id)).some((event) => event.type === 'leg_submitted'));
  await parley.process('worker').kill();
  return id;
}

export const pathsOfRuns: Paths = {
  'continued in a new run': async ({ impatient }) => {
    const parley = await impatient();
    const id = await calling(parley, 'asks_between_polls', { server: 'reasking' });
    const first = await asked(parley, id);
    await accept(parley, first, yes);
    const second = await asked(parley, id, 6);
    // To a question of the run before.
    const late = await answer(parley, first, { go: { action: 'decline' } });
    if (late.body.code !== 'consent_answered') throw new Error(`a late answer was taken for ${late.text}`);
    await accept(parley, second, yes);
    return { id: await over(parley, id), of: parley };
  },
  'worker killed on the wire': async ({ parley }) => {
    const id = await killedOnTheWire(parley, 'paths');
    await parley.start('worker');
    return over(parley, id);
  },
  // A task makes Temporal notice that the worker is gone before it notices that the leg is: the leg is then looked for while it may come back.
  'worker killed on the wire, and its leg waited for': async ({ parley }) => {
    const id = await killedOnTheWire(parley, 'unhurried');
    await atTemporal(parley, id, (handle) => handle.signal(refreshSignal));
    await parley.start('worker');
    return over(parley, id);
  },
  'leg that no worker took': async ({ parley }) => {
    await parley.process('worker').stop();
    const saw = async (id: string, kind: string): Promise<boolean> => (await eventsOf(parley, id)).includes(kind);
    const id = await withoutLegs(parley, async () => {
      const started = await calling(parley, 'completes', { policy: { callDeadline: 'PT5S' } });
      await until(() => saw(started, 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED'));
      return started;
    });
    await until(() => saw(id, 'EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT'));
    await parley.start('worker');
    return over(parley, id);
  },
  // Last: the store forgets every other call with it.
  'ledger lost while parked': async ({ parley }) => {
    const id = await parked(parley);
    await wipe(parley);
    await atTemporal(parley, id, (handle) => handle.signal(refreshSignal));
    await until(async () => {
      const { status, body } = await parley.api(`/v1/invocations/${id}`);
      return status === 200 && body.outcome !== null;
    });
    return id;
  },
};

export const slowPathsOfRuns: Paths = {
  // The worker waits for a replica that there is not.
  'ledger not replicated': async ({ parley }) => {
    await parley.process('worker').stop();
    const worker = await parley.start('worker', { PARLEY_REDIS_REPLICAS: '1', PARLEY_REDIS_REPLICA_TIMEOUT: 'PT0.1S' });
    const id = await over(parley, await calling(parley, 'completes'));
    await worker.stop();
    await parley.start('worker');
    return id;
  },
};
