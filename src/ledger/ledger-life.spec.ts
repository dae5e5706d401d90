/** The life of a store: one that was wiped, or has lost writes, is noticed before anything is sent on its word. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LegReport } from '../../domain/call.js';
import { freshStore, type FreshStore } from '../../test/harness/fresh-store.js';
import { Ledger, type Begin, type Position } from './ledger.js';

const asked: LegReport = { outcome: { is: 'asked', round: { number: 1 } } };

let store: FreshStore;
/** Of the process that begins legs. */
let ledger: Ledger;
/** Of one that has seen nothing yet. */
let fresh: Ledger;
let position: Position;
let begin: Begin;

beforeAll(async () => {
  store = await freshStore();
});
afterAll(() => store.close());
beforeEach(async () => {
  ledger = new Ledger(store.redis, store.keys);
  fresh = new Ledger(store.redis, store.keys);
  position = await ledger.position();
  const invocation = `inv_${randomUUID()}`;
  begin = { tenant: 't1', server: 's1', invocation, leg: 1, try: 1, token: randomUUID(), position, ttlMs: 60_000 };
});

/** As if a backup from before this leg was restored: its row is gone, and so is what it did to the clock. */
async function losesTheLastBegin(): Promise<void> {
  await store.redis.del(store.keys.ledger('t1', begin.invocation));
  await store.redis.decr(store.keys.clock());
}

describe('the position', () => {
  it('is of one epoch for everybody, whoever asks first', async () => {
    await store.wipe();
    const seen = await Promise.all(Array.from({ length: 20 }, () => ledger.position()));
    expect(new Set(seen.map(({ epoch }) => epoch)).size).toBe(1);
  });

  it('is of another one after the store was wiped', async () => {
    await store.wipe();
    expect((await ledger.position()).epoch).not.toBe(position.epoch);
  });

  it('moves on with every leg that is begun, and with nothing else', async () => {
    expect(await ledger.begin(begin)).toEqual({ is: 'begun', clock: position.clock + 1 });
    await ledger.begin(begin);
    await ledger.finish(begin, asked);
    await ledger.resolve(begin, position);
    expect(await ledger.position()).toEqual({ ...position, clock: position.clock + 1 });
  });
});

describe('in a store that was wiped, a leg', () => {
  it('of a call of the old epoch is refused, whatever its number (epoch_lost)', async () => {
    await ledger.begin(begin);
    await ledger.finish(begin, asked);
    await store.wipe();
    expect(await ledger.begin(begin)).toEqual({ is: 'epoch_lost' });
    await ledger.position();
    expect(await ledger.begin(begin)).toEqual({ is: 'epoch_lost' });
    expect(await ledger.begin({ ...begin, leg: 2 })).toEqual({ is: 'epoch_lost' });
  });

  it('that is not there is no proof that it was not sent (epoch_lost)', async () => {
    await ledger.begin(begin);
    await store.wipe();
    expect(await ledger.resolve(begin, position)).toBe('epoch_lost');
    await ledger.position();
    expect(await ledger.resolve(begin, position)).toBe('epoch_lost');
    expect(await ledger.begin({ ...begin, try: 2 })).toEqual({ is: 'epoch_lost' });
  });

  it('is refused also when only its call was lost (previous_leg_missing)', async () => {
    await ledger.begin(begin);
    await ledger.finish(begin, asked);
    await store.redis.del(store.keys.ledger('t1', begin.invocation));
    expect(await ledger.begin({ ...begin, leg: 2 })).toEqual({ is: 'previous_leg_missing' });
  });
});

describe('a store that has lost a begun leg', () => {
  it('lets nobody send it again who knows of it: the process that began it', async () => {
    await ledger.begin(begin);
    await losesTheLastBegin();
    expect(await ledger.begin({ ...begin, token: randomUUID() })).toEqual({ is: 'epoch_lost' });
  });

  it('nor its call, by what the leg said of the clock', async () => {
    const begun = await ledger.begin(begin);
    await losesTheLastBegin();
    const known = { ...position, clock: begun.is === 'begun' ? begun.clock : 0 };
    expect(await fresh.resolve(begin, known)).toBe('epoch_lost');
    expect(await fresh.begin({ ...begin, leg: 2, position: known })).toEqual({ is: 'epoch_lost' });
  });

  it('takes a new epoch once it is noticed, so that those who know nothing of it are warned too', async () => {
    await ledger.begin(begin);
    await losesTheLastBegin();
    await ledger.resolve(begin, position);
    expect(await fresh.begin({ ...begin, invocation: `inv_${randomUUID()}` })).toEqual({ is: 'epoch_lost' });
    const now = await fresh.position();
    expect(now.epoch).not.toBe(position.epoch);
    expect(await ledger.begin({ ...begin, position: now })).toMatchObject({ is: 'begun' });
    expect(await fresh.begin({ ...begin, invocation: `inv_${randomUUID()}`, position: now })).toMatchObject({ is: 'begun' });
  });

  it('and has begun others since, so that its clock tells nothing, is noticed by whoever knows that the leg was begun', async () => {
    await ledger.begin(begin);
    await losesTheLastBegin();
    await fresh.begin({ ...begin, invocation: `inv_${randomUUID()}` });
    await fresh.begin({ ...begin, invocation: `inv_${randomUUID()}` });
    expect(await fresh.resolve(begin, position, true)).toBe('epoch_lost');
    expect((await fresh.position()).epoch).not.toBe(position.epoch);
  });

  it('is not one whose leg was begun, never ran, and was then taken back under a later try', async () => {
    await ledger.begin(begin);
    await ledger.finish(begin, { outcome: { is: 'never_sent', proof: 'ECONNREFUSED' } });
    await ledger.resolve({ ...begin, try: 2 }, position);
    // Of a run that was reset away, and that asks late.
    expect(await fresh.resolve(begin, position, true)).toMatchObject({ state: 'revoked', try: 2 });
    expect((await fresh.position()).epoch).toBe(position.epoch);
  });

  it('that was wiped since is no reason to doubt the new one', async () => {
    for (let leg = 0; leg < 3; leg += 1) await ledger.begin({ ...begin, invocation: `inv_${randomUUID()}` });
    await store.wipe();
    const now = await ledger.position();
    expect(now.clock).toBe(0);
    expect(await ledger.begin({ ...begin, position: now })).toEqual({ is: 'begun', clock: 1 });
  });
});
