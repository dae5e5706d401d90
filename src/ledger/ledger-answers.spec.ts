/** Answers in the ledger: each is used up by one leg, and only one to the latest question is sent. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LegReport } from '../../domain/call.js';
import { freshStore, type FreshStore } from '../../test/harness/fresh-store.js';
import { Ledger, type Begin, type LegRef, type Position } from './ledger.js';

const asked: LegReport = { outcome: { is: 'asked', round: { number: 1 } } };
const neverSent: LegReport = { outcome: { is: 'never_sent', proof: 'ECONNREFUSED' } };
const unknown: LegReport = { outcome: { is: 'unknown', reason: 'socket closed' } };

let store: FreshStore;
let ledger: Ledger;
let position: Position;
let invocation: string;

beforeAll(async () => {
  store = await freshStore();
  ledger = new Ledger(store.redis, store.keys);
});
afterAll(() => store.close());
beforeEach(async () => {
  position = await ledger.position();
  invocation = `inv_${randomUUID()}`;
});

function ref(leg = 1): LegRef {
  return { tenant: 't1', invocation, leg, try: 1 };
}

function aBegin(overrides: Partial<Begin> = {}): Begin {
  return { ...ref(), server: 's1', token: randomUUID(), position, ttlMs: 60_000, ...overrides };
}

/** A leg that was begun and ended with this report. */
async function ended(report: LegReport, overrides: Partial<Begin> = {}): Promise<Begin> {
  const begin = aBegin(overrides);
  expect(await ledger.begin(begin)).toMatchObject({ is: 'begun' });
  await ledger.finish(begin, report);
  return begin;
}

describe('a leg with an answer', () => {
  it('uses the answer up for its leg (answer_used)', async () => {
    await ended(asked);
    await ended(asked, { leg: 2, answerId: 'a1' });
    expect(await ledger.begin(aBegin({ leg: 3, answerId: 'a1' }))).toEqual({ is: 'answer_used' });
    expect(await ledger.resolve(ref(3), position)).toMatchObject({ state: 'revoked' });
  });

  it('takes the same answer again for the same leg after a try that was never sent', async () => {
    await ended(asked);
    await ended(neverSent, { leg: 2, answerId: 'a1' });
    expect(await ledger.begin(aBegin({ leg: 2, try: 2, answerId: 'a1' }))).toMatchObject({ is: 'begun' });
  });

  it('does not use an answer up when the leg is refused', async () => {
    await ledger.begin(aBegin({ leg: 2, answerId: 'a1' }));
    await ended(asked);
    await ended(asked, { leg: 2, answerId: 'a2' });
    expect(await ledger.begin(aBegin({ leg: 3, answerId: 'a1' }))).toMatchObject({ is: 'begun' });
  });

  it('lets one of two legs win an answer that both carry at once', async () => {
    await ended(asked);
    await ended(asked, { leg: 2 });
    await ledger.resolve(ref(2), position);
    const legs = await Promise.all([
      ledger.begin(aBegin({ leg: 3, answerId: 'a1' })),
      ledger.begin(aBegin({ leg: 2, try: 2, answerId: 'a1' })),
      ledger.begin(aBegin({ leg: 3, answerId: 'a1' })),
    ]);
    expect(legs.filter((verdict) => verdict.is === 'begun')).toHaveLength(1);
  });
});

describe('after a person was asked again', () => {
  const mayAsk = (consent: string, sequence: number) => ledger.mayAsk(ref(2), consent, sequence);
  const answering = (consent: string, tried = 1) => aBegin({ leg: 2, try: tried, answerId: `to ${consent}`, consent });

  it('sends the answer to the latest question alone (asked_again)', async () => {
    await ended(asked);
    expect([await mayAsk('c1', 1), await mayAsk('c2', 2)]).toEqual([1, 1]);
    expect(await ledger.begin(answering('c1'))).toEqual({ is: 'asked_again' });
    expect(await ledger.begin(answering('c2'))).toMatchObject({ is: 'begun' });
  });

  it('takes no question back for a step that comes too late', async () => {
    await ended(asked);
    await mayAsk('c2', 2);
    expect(await mayAsk('c1', 1)).toBe(1);
    expect(await ledger.begin(answering('c2'))).toMatchObject({ is: 'begun' });
  });

  it.each([
    ['begun', undefined, null],
    ['done', asked, null],
    ['done, and nobody knows how', unknown, null],
    ['never sent', neverSent, 2],
  ])('a leg that is %s lets it be asked: %#', async (_, report, may) => {
    await ended(asked);
    if (report === undefined) await ledger.begin(answering('c1'));
    else await ended(report, answering('c1'));
    expect(await mayAsk('c2', 2)).toBe(may);
    expect((await ledger.begin(answering('c2', 2))).is).toBe(may === null ? 'taken' : 'begun');
  });

  it('lets it be asked for a leg that is revoked, and writes nothing for a call that it does not know', async () => {
    expect(await mayAsk('c1', 1)).toBe(1);
    expect(await store.redis.exists(store.keys.ledger('t1', invocation))).toBe(0);
    await ended(asked);
    await ledger.resolve({ ...ref(2), try: 3 }, position);
    expect(await mayAsk('c2', 2)).toBe(4);
    expect(await ledger.begin(answering('c2', 4))).toMatchObject({ is: 'begun' });
  });
});
