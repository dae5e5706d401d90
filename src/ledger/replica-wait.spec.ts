/** Replicas that confirm, and one that does not: a real primary with a real replica. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../test/harness/fresh-store.js';
import { findOrBringRedis, type Service } from '../../tools/services.js';
import { until } from '../../tools/until.js';
import { Keys } from '../store/keys.js';
import { connectRedis, type Redis } from '../store/redis.js';
import { Ledger } from './ledger.js';
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
  ledger = new Ledger(primary, new Keys('p'), new ReplicaWait({ replicas: 1, timeoutMs: 2_000 }));
});
afterAll(async () => {
  primary?.destroy();
  replica?.destroy();
  await Promise.all((services ?? []).map((service) => service.stop()));
});

async function begin(): Promise<{ invocation: string }> {
  const invocation = `inv_${randomUUID()}`;
  const ref = { tenant: 't1', invocation, leg: 1, try: 1 };
  const verdict = await ledger.begin({ ...ref, token: randomUUID(), position: await ledger.position(), ttlMs: 60_000 });
  expect(verdict).toMatchObject({ is: 'begun' });
  return { invocation };
}

describe('a begun leg', () => {
  it('is replicated once the replica has written it down', async () => {
    const { invocation } = await begin();
    expect(await ledger.isReplicated()).toBe(true);
    expect(await replica.hGet(`p:ledger:t1:${invocation}`, '1.state')).toBe('begun');
  });

  it('is not while the replica is away', async () => {
    await replica.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    await begin();
    expect(await ledger.isReplicated()).toBe(false);
  });
});
