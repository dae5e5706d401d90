/** A primary with a real replica: what only one of them has written down is not sent on (promise 1), and operators are told. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectRedis, type Redis } from '../src/store/redis.js';
import { findOrBringRedis, type Service } from '../tools/services.js';
import { exampleLegs, invocation, outcome, post, start } from './harness/conversation.js';
import { silentLog } from './harness/fresh-store.js';
import { startParley, until, type Parley } from './harness/parley.js';

let parley: Parley;
let stores: Service[];
let primary: Redis;
let replica: Redis;

beforeAll(async () => {
  stores = await Promise.all([1, 2].map(() => findOrBringRedis({ log: () => undefined })));
  const [one, other] = stores.map(({ address }) => address) as [string, string];
  [primary, replica] = await Promise.all([connectRedis(one, silentLog), connectRedis(other, silentLog)]);
  await attach();
  parley = await startParley({
    env: { REDIS_URL: one, PARLEY_REDIS_REPLICAS: '1', PARLEY_REDIS_REPLICA_TIMEOUT: 'PT0.5S' },
    servers: [{ id: 'absent', url: 'http://127.0.0.1:9/mcp' }],
  });
}, 60_000);
afterAll(async () => {
  await parley?.stop();
  primary?.destroy();
  replica?.destroy();
  await Promise.all((stores ?? []).map((store) => store.stop()));
});

async function attach(): Promise<void> {
  const { port } = new URL(stores[0]!.address);
  await replica.sendCommand(['REPLICAOF', '127.0.0.1', port]);
  await until(async () => (await primary.info('replication')).includes('state=online'), 20_000);
}

const detach = () => replica.sendCommand(['REPLICAOF', 'NO', 'ONE']);
const echo = (text: string) => ({ tool: 'echo', arguments: { text } });

it('a leg that the replica has written down is sent', async () => {
  expect((await post(parley, { ...echo('confirmed'), waitSeconds: 20 })).body).toMatchObject({ outcome: 'completed' });
});

it('one that it has not is not sent: the call ends for that reason, and the log tells of every try [P1]', async () => {
  await detach();
  const id = await start(parley, echo('unconfirmed'));
  expect(await outcome(parley, id)).toMatchObject({ outcome: 'unreachable', reason: 'ledger_not_replicated', leg: 1 });
  expect(exampleLegs(parley, id)).toEqual([]);
  const told = () => parley.logs().filter((line) => line.includes('"event":"ledger_not_replicated"') && line.includes(id));
  // As many as the policy of a test allows.
  await until(() => told().length === 3);
  expect(told()[0]).toContain('"level":"warn"');
}, 60_000);

it('a server that cannot be reached is another reason, whatever the replicas do', async () => {
  const id = await start(parley, { server: 'absent', tool: 'any' });
  expect(await outcome(parley, id)).toMatchObject({ outcome: 'unreachable', reason: 'connect_attempts_spent' });
});

it('a call goes on with the same leg once the replica is back [P1]', async () => {
  await parley.register([], { maxConnectAttempts: 100 });
  await parley.restartApi();
  const id = await start(parley, echo('in the end'));
  await until(() => parley.logs().some((line) => line.includes('ledger_not_replicated') && line.includes(id)));
  expect(await invocation(parley, id)).toMatchObject({ outcome: null, leg: 1 });
  await attach();
  expect(await outcome(parley, id, 30_000)).toMatchObject({ outcome: 'completed', leg: 1 });
  expect(exampleLegs(parley, id)).toHaveLength(1);
}, 60_000);
