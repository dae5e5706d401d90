/** Promise 7, with a store that refuses to take audit entries: the worker’s store user loses the right to append. */

import { randomUUID } from 'node:crypto';
import { createClient, type RedisClientType } from 'redis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { acceptLater, asked, auditOf, deployTo, exampleLegs, invocation, outcome, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';

const user = `worker-${randomUUID()}`;
let redis: RedisClientType;
let parley: Parley;

beforeAll(async () => {
  redis = createClient({ url: inject('redisUrl') }) as RedisClientType;
  await redis.connect();
  await redis.sendCommand(['ACL', 'SETUSER', user, 'on', '>secret', '~*', '&*', '+@all']);
  parley = await startParley({ worker: false });
  const url = new URL(inject('redisUrl'));
  url.username = user;
  url.password = 'secret';
  await parley.start('worker', { REDIS_URL: url.href });
});
afterAll(async () => {
  await parley?.stop();
  await redis?.sendCommand(['ACL', 'DELUSER', user]);
  await redis?.close();
});

const sends = (id: string): number => exampleLegs(parley, id).length;
const allow = (rule: string) => redis.sendCommand(['ACL', 'SETUSER', user, rule]);

/** Resolves when the store has refused that command to the worker: then Parley has tried, and what it does next is the question. */
async function refusal(command: string): Promise<void> {
  await until(async () => {
    const log = JSON.stringify(await redis.sendCommand(['ACL', 'LOG']));
    return log.includes(user) && log.includes(command);
  });
}

describe('when an audit entry cannot be written', () => {
  it('the first leg is not sent, and the call ends as refused (audit_unavailable) [P7]', async () => {
    await redis.sendCommand(['ACL', 'LOG', 'RESET']);
    await allow('-xadd');
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'x' } });
    await refusal('xadd');
    await allow('+xadd');
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'refused', reason: 'audit_unavailable' });
    expect(sends(id)).toBe(0);
  });

  it('or not be read back, nothing is sent either [P7]', async () => {
    await redis.sendCommand(['ACL', 'LOG', 'RESET']);
    await allow('-xrange');
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'x' } });
    await refusal('xrange');
    await allow('+xrange');
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'refused', reason: 'audit_unavailable' });
    expect(sends(id)).toBe(0);
  });

  it('a retry waits for the record of its round, and is sent once when it is there [P7] [P1]', async () => {
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'x' } });
    const consent = await asked(parley, id);
    await redis.sendCommand(['ACL', 'LOG', 'RESET']);
    await allow('-xadd');
    await acceptLater(parley, consent, deployTo('staging'));
    await refusal('xadd');
    expect(await invocation(parley, id)).toMatchObject({ outcome: null });
    expect(sends(id)).toBe(1);
    await allow('+xadd');
    expect(await outcome(parley, id, 30_000)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(sends(id)).toBe(2);
    const types = (await auditOf(parley, id)).map((event) => `${event.type} ${event.leg ?? ''}`.trim());
    expect(types.indexOf('answer_accepted 1')).toBeGreaterThan(types.indexOf('round_received 1'));
    expect(types.indexOf('leg_submitted 2')).toBeGreaterThan(types.indexOf('answer_accepted 1'));
  }, 60_000);
});
