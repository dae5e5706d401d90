/** What an operator holds begins no leg, and hides no leg that has ended. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freshStore, type FreshStore } from '../../test/harness/fresh-store.js';
import { Ledger, type Begin } from './ledger.js';

let store: FreshStore;
let ledger: Ledger;
let begin: Begin;

beforeAll(async () => {
  store = await freshStore();
  ledger = new Ledger(store.redis, store.keys);
});
afterAll(() => store.close());
beforeEach(async () => {
  const position = await ledger.position();
  const invocation = `inv_${randomUUID()}`;
  begin = { tenant: 't1', server: 's1', invocation, leg: 1, try: 1, token: randomUUID(), position, ttlMs: 60_000 };
});

describe('a leg', () => {
  it.each([
    ['server', 'server_held'],
    ['tenant', 'tenant_held'],
  ] as const)('is not begun while an operator holds the %s, and nothing is written', async (what, by) => {
    const hold = what === 'server' ? store.keys.serverHold('s1') : store.keys.tenantHold('t1');
    const answering = { ...begin, answerId: 'a1' };
    await store.redis.set(hold, '{}');
    expect(await ledger.begin(answering)).toEqual({ is: 'held', by });
    expect(await store.redis.exists(store.keys.ledger('t1', begin.invocation))).toBe(0);
    expect(await ledger.begin({ ...answering, server: 's2', tenant: 't2' })).toMatchObject({ is: 'begun' });
    await store.redis.del(hold);
    expect(await ledger.begin(answering)).toMatchObject({ is: 'begun' });
  });

  it('that has ended says how, whoever holds it now', async () => {
    await ledger.begin(begin);
    await ledger.finish(begin, { outcome: { is: 'completed', result: { in: 'store', leg: 1, bytes: 9 }, isError: false } });
    await store.redis.set(store.keys.serverHold('s1'), '{}');
    expect(await ledger.begin({ ...begin, token: randomUUID() })).toMatchObject({ is: 'taken', row: { state: 'done' } });
    await store.redis.del(store.keys.serverHold('s1'));
  });
});
