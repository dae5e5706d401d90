/** Promise 1 when the store is wiped while a leg is on the wire: what went with it is no proof of anything. */

import { createClient } from 'redis';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';

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

async function wipe(pattern: string): Promise<void> {
  const redis = createClient({ url: inject('redisUrl') });
  await redis.connect();
  for await (const names of redis.scanIterator({ MATCH: pattern, COUNT: 1_000 })) if (names.length > 0) await redis.del(names);
  redis.destroy();
}
