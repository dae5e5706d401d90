/** Replicas that confirm, and one that does not: a real primary with a real replica. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../test/harness/fresh-store.js';
import { findOrBringRedis, type Service } from '../../tools/services.js';
import { until } from '../../tools/until.js';
import { Keys } from '../store/keys.js';
import { connectRedis, duplicateRedis, type Redis } from '../store/redis.js';
import { Ledger, type LegRef } from './ledger.js';
import { ReplicaWait } from './replica-wait.js';

let services: Service[];
let primary: Redis;
let replica: Redis;
let ledger: Ledger;

beforeAll(async () => {
  services = await Promise.all([1, 2].map(() => findOrBringRedis({ log: () => undefined })));
  const [one, other] = services.map(({ address }) => address) as [string, string];
  [primary, replica] = await Promise.all([connectRedis(one, silentLog), connectRedis(other, silentLog)]);
  await replica.sendCommand(['REPLICAOF', '127.0.0.1', new URL(one).port]);
  await until(async () => (await primary.info('replication')).includes('state=online'), 20_000);
  ledger = new Ledger(primary, new Keys('p'), new ReplicaWait(await duplicateRedis(primary), { replicas: 1, timeoutMs: 2_000 }));
});
afterAll(async () => {
  ledger?.close();
  primary?.destroy();
  replica?.destroy();
  await Promise.all((services ?? []).map((service) => service.stop()));
});

async function begin(): Promise<LegRef & { token: string }> {
  const invocation = `inv_${randomUUID()}`;
  const ref = { tenant: 't1', invocation, leg: 1, try: 1, token: randomUUID() };
  const verdict = await ledger.begin({ ...ref, server: 's1', position: await ledger.position(), ttlMs: 60_000 });
  expect(verdict).toMatchObject({ is: 'begun' });
  return ref;
}

describe('a begun leg', () => {
  it('is replicated once the replica has written it down', async () => {
    const ref = await begin();
    expect(await ledger.isReplicated(ref)).toBe(true);
    expect(await replica.hGet(`p:ledger:t1:${ref.invocation}`, '1.state')).toBe('begun');
  });

  it('is not when the row is gone, whoever confirms what', async () => {
    const ref = await begin();
    await primary.del(`p:ledger:t1:${ref.invocation}`);
    expect(await ledger.isReplicated(ref)).toBe(false);
  });

  it('is not while the replica is away', async () => {
    await replica.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    const ref = await begin();
    expect(await ledger.isReplicated(ref)).toBe(false);
    // A connection that was made anew has nothing to wait for.
    await primary.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no']).catch(() => undefined);
    expect(await ledger.isReplicated(ref)).toBe(false);
  });

  it('that waits for a replica which is away holds up no other leg', async () => {
    const waiting = await Promise.all(Array.from({ length: 4 }, begin));
    const confirmations = waiting.map((ref) => ledger.isReplicated(ref));
    await begin();
    expect(await Promise.all(confirmations)).toEqual([false, false, false, false]);
  }, 30_000);
});
