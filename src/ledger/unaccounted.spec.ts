/** Legs that only the ledger still knows: which of them are told, and which are accounted for. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LegReport } from '../../domain/call.js';
import { freshStore, type FreshStore } from '../../test/harness/fresh-store.js';
import { Ledger, type Begin, type UnaccountedLeg } from './ledger.js';

const asked: LegReport = { outcome: { is: 'asked', round: { number: 1 } } };
const completed: LegReport = { outcome: { is: 'completed', result: { in: 'store', leg: 1, bytes: 1 }, isError: false } };
const neverSent: LegReport = { outcome: { is: 'never_sent', proof: 'ECONNREFUSED' } };
const unknown: LegReport = { outcome: { is: 'unknown', reason: 'socket closed' } };

let store: FreshStore;
let ledger: Ledger;
let invocation: string;

beforeAll(async () => {
  store = await freshStore();
  ledger = new Ledger(store.redis, store.keys);
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.wipe();
  invocation = `inv_${randomUUID()}`;
});

const key = () => store.keys.ledger('t1', invocation);

async function begun(leg = 1): Promise<Begin> {
  const position = await ledger.position();
  const ref = { tenant: 't1', invocation, leg, try: 1 };
  const begin = { ...ref, server: 's1', token: randomUUID(), position, ttlMs: 60_000 };
  expect(await ledger.begin(begin)).toMatchObject({ is: 'begun' });
  return begin;
}

async function went(leg: number, report: LegReport): Promise<void> {
  await ledger.finish(await begun(leg), report);
}

async function unaccounted(minAgeMs = 0): Promise<UnaccountedLeg[]> {
  const found: UnaccountedLeg[] = [];
  for await (const { legs } of ledger.unaccounted(minAgeMs)) found.push(...legs);
  return found;
}

const legNo = (leg: number) => ({ tenant: 't1', invocation, leg, ageMs: expect.any(Number) });

describe('a leg that was begun', () => {
  it('is told once it is old enough, until its call is closed', async () => {
    await went(1, asked);
    await begun(2);
    expect(await unaccounted(60_000)).toEqual([]);
    expect(await unaccounted()).toEqual([legNo(2)]);
    await ledger.end('t1', invocation, 'acknowledged');
    expect(await unaccounted()).toEqual([]);
  });

  it.each([1, 2, 3, 7, 8, 9])('is found in a row from before it said which is the last: leg %i', async (last) => {
    for (let leg = 1; leg < last; leg += 1) await went(leg, asked);
    await begun(last);
    await store.redis.hDel(key(), 'last');
    expect(await unaccounted()).toEqual([legNo(last)]);
  });

  it('is not told when it is done, or was revoked under a later try', async () => {
    await went(1, neverSent);
    expect(await unaccounted()).toEqual([]);
    await ledger.resolve({ tenant: 't1', invocation, leg: 1, try: 2 }, await ledger.position());
    expect(await unaccounted()).toEqual([]);
  });
});

describe('a leg of a call that was closed as indeterminate', () => {
  it.each([asked, neverSent, completed])('is told when it came back afterwards, until that is on record: %#', async (report) => {
    const begin = await begun();
    await ledger.end('t1', invocation, 'indeterminate');
    expect(await unaccounted()).toEqual([]);
    await ledger.finish(begin, report);
    expect(await unaccounted()).toEqual([{ ...legNo(1), came: report.outcome.is }]);
    await ledger.end('t1', invocation, 'settled_late');
    expect(await unaccounted()).toEqual([]);
    // A workflow that runs again may close the call once more.
    await ledger.end('t1', invocation, 'indeterminate');
    expect(await unaccounted()).toEqual([]);
  });

  it.each([asked, completed])('is no news when it was done before: %#', async (report) => {
    await went(1, report);
    await ledger.end('t1', invocation, 'indeterminate');
    expect(await unaccounted()).toEqual([]);
  });

  it('is no news when it was done before, and the one after it was lost', async () => {
    await went(1, asked);
    await begun(2);
    await ledger.end('t1', invocation, 'indeterminate');
    expect(await unaccounted()).toEqual([]);
  });

  it('is no news when all that came is that nobody knows', async () => {
    const begin = await begun();
    await ledger.end('t1', invocation, 'indeterminate');
    await ledger.finish(begin, unknown);
    expect(await unaccounted()).toEqual([]);
  });

  it('and ended as something else meanwhile is told by whoever ended it', async () => {
    const begin = await begun();
    await ledger.end('t1', invocation, 'indeterminate');
    await ledger.finish(begin, completed);
    await ledger.end('t1', invocation, 'completed');
    expect(await unaccounted()).toEqual([]);
  });
});
