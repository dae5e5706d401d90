/** Determinism: what calls of every kind have recorded, the workflow of this build replays, failures and late answers included. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyRingCodec } from '../src/crypto/codec.js';
import { dataConverterFor } from '../src/crypto/data-converter.js';
import { KeyRing } from '../src/crypto/key-ring.js';
import { accept, answer, asked, deployTo, outcome, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { temporalClient } from './harness/temporal.js';

let parley: Parley;
beforeAll(async () => {
  parley = await startParley({ servers: [{ id: 'absent', url: 'http://127.0.0.1:9/mcp' }] });
});
afterAll(async () => parley?.stop());

describe('the workflow', () => {
  it('replays the histories of calls that completed, asked, polled, expired, were cancelled and never arrived', async () => {
    const deploy = { tool: 'deploy', arguments: { artifact: 'x' } };
    const ids = await Promise.all([
      start(parley, { tool: 'echo', arguments: { text: 'x' } }),
      start(parley, { tool: 'report', arguments: { about: 'x' } }),
      start(parley, { ...deploy, policy: { roundDeadline: 'PT0.3S' } }),
      start(parley, { server: 'absent', tool: 'any' }),
    ]);
    const answered = await start(parley, deploy);
    const consent = await asked(parley, answered);
    await accept(parley, consent, deployTo('staging'));
    await answer(parley, consent, { target: { action: 'decline' } });
    const cancelled = await start(parley, deploy);
    await asked(parley, cancelled);
    await parley.api(`/v1/invocations/${cancelled}/cancel`, { method: 'POST', idempotencyKey: 'c' });
    const all = [...ids, answered, cancelled];
    const endings = await Promise.all(all.map(async (id) => (await outcome(parley, id)).outcome));
    expect(endings).toEqual(['completed', 'completed', 'expired', 'unreachable', 'completed', 'cancelled']);

    const client = await temporalClient();
    try {
      const query = `TaskQueue = '${parley.env['PARLEY_TASK_QUEUE']}-calls' AND ExecutionStatus = 'Completed'`;
      await until(async () => (await client.workflow.count(query)).count === all.length);
      const keys = await readFile(parley.env['PARLEY_CODEC_KEYS_FILE'] ?? '', 'utf8');
      const replayed: string[] = [];
      const replays = Worker.runReplayHistories(
        {
          workflowBundle: { codePath: resolve(import.meta.dirname, '../dist/workflow-bundle.js') },
          dataConverter: dataConverterFor(new KeyRingCodec(KeyRing.parse(keys.trim()))),
        },
        client.workflow.list({ query }).intoHistories(),
      );
      for await (const { workflowId, error } of replays) {
        expect(error, `${workflowId}: ${error?.message}`).toBeUndefined();
        replayed.push(workflowId);
      }
      expect(replayed.toSorted()).toEqual(all.map((id) => `t1/${id}`).toSorted());
    } finally {
      await client.connection.close();
    }
  });
});
