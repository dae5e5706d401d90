/** Whose a requestState is (design §4). */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshStore, type FreshStore } from '../../test/harness/fresh-store.js';
import { Ledger } from './ledger.js';

let store: FreshStore;
let ledger: Ledger;
beforeAll(async () => {
  store = await freshStore();
  ledger = new Ledger(store.redis, store.keys);
});
afterAll(() => store.close());

describe('Ledger.claimState', () => {
  it('is true for the tenant and subject that were first, and false for all others', async () => {
    const state = `f1.k.${randomUUID()}`;
    expect(await ledger.claimState([state], 't1', 'u1', 60_000)).toBe(true);
    expect(await ledger.claimState([state], 't1', 'u1', 60_000)).toBe(true);
    expect(await ledger.claimState([state], 't1', 'u2', 60_000)).toBe(false);
    expect(await ledger.claimState([state], 't2', 'u1', 60_000)).toBe(false);
    expect(await ledger.claimState([`${state}x`], 't2', 'u1', 60_000)).toBe(true);
  });

  it('does not mix up a tenant and a subject that join to the same text', async () => {
    const state = `f1.k.${randomUUID()}`;
    expect(await ledger.claimState([state], 'a:b', 'c', 60_000)).toBe(true);
    expect(await ledger.claimState([state], 'a', 'b:c', 60_000)).toBe(false);
  });

  it('lets exactly one subject win a race', async () => {
    const state = `f1.k.${randomUUID()}`;
    const claims = await Promise.all(Array.from({ length: 20 }, (_, i) => ledger.claimState([state], 't1', `u${i}`, 60_000)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it('is found again after a rotation of the keys, and noted under the new one from then on', async () => {
    const [before, after] = [`f1.k1.${randomUUID()}`, `f1.k2.${randomUUID()}`];
    expect(await ledger.claimState([before], 't1', 'u1', 60_000)).toBe(true);
    expect(await ledger.claimState([after, before], 't1', 'u2', 60_000)).toBe(false);
    expect(await ledger.claimState([after, before], 't1', 'u1', 60_000)).toBe(true);
    expect(await ledger.claimState([after], 't1', 'u2', 60_000)).toBe(false);
  });
});
