import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { LegReport, Sealed } from '../../domain/call.js';
import { freshStore, silentLog, type FreshStore } from '../../test/harness/fresh-store.js';
import { TcpGate } from '../../test/harness/tcp-gate.js';
import { connectRedis } from '../store/redis.js';
import { Ledger, type Begin, type LedgerRow, type LegRef, type Position } from './ledger.js';

const asked: LegReport = { outcome: { is: 'asked', round: { number: 1 } }, toolDigest: 'sha256:0' };
const neverSent: LegReport = { outcome: { is: 'never_sent', proof: 'ECONNREFUSED' } };
const completed: LegReport = {
  outcome: { is: 'completed', result: { in: 'store', leg: 1, bytes: 9007199254740991 }, isError: false },
};
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

function ref(leg = 1, tried = 1): LegRef {
  return { tenant: 't1', invocation, leg, try: tried };
}

function aBegin(overrides: Partial<Begin> = {}): Begin {
  return { ...ref(), server: 's1', token: randomUUID(), position, ttlMs: 60_000, ...overrides };
}

async function resolved(): Promise<LedgerRow> {
  const row = await ledger.resolve(ref(), position);
  if (row === 'epoch_lost') throw new Error(row);
  return row;
}

/** A leg that was begun and ended with this report. */
async function ended(report: LegReport, overrides: Partial<Begin> = {}): Promise<Begin> {
  const begin = aBegin(overrides);
  expect(await ledger.begin(begin)).toMatchObject({ is: 'begun' });
  await ledger.finish(begin, report);
  return begin;
}

describe('Ledger.begin', () => {
  it('lets exactly one of many concurrent begins win', async () => {
    const others = await Promise.all(Array.from({ length: 4 }, () => connectRedis(inject('redisUrl'), silentLog)));
    const ledgers = others.map((redis) => new Ledger(redis, store.keys));
    const begins = Array.from({ length: 100 }, () => aBegin());
    const verdicts = await Promise.all(begins.map((begin, i) => ledgers[i % ledgers.length]!.begin(begin)));
    const winners = begins.filter((_, i) => verdicts[i]!.is === 'begun');
    expect(winners).toHaveLength(1);
    const losers = verdicts.filter((verdict) => verdict.is !== 'begun');
    const taken = { is: 'taken', row: { state: 'begun', token: winners[0]!.token } };
    expect(losers).toEqual(losers.map(() => expect.objectContaining({ ...taken, row: expect.objectContaining(taken.row) })));
    others.forEach((redis) => redis.destroy());
  });

  it('lets exactly one of begin and resolve win, never both and never neither', async () => {
    for (let i = 0; i < 50; i += 1) {
      invocation = `inv_${randomUUID()}`;
      const [verdict, row] = await Promise.all(
        i % 2 === 0 ? [ledger.begin(aBegin()), resolved()] : swapped(resolved(), ledger.begin(aBegin())),
      );
      expect([verdict.is, row.state]).toBeOneOf([
        ['begun', 'begun'],
        ['taken', 'revoked'],
      ]);
    }
  });

  it('lets a leg out at most once, whatever many activities do with it at the same time', async () => {
    for (let round = 0; round < 20; round += 1) {
      invocation = `inv_${randomUUID()}`;
      let maybeSent = 0;
      const activity = async (tried: number, isNeverSent: boolean): Promise<void> => {
        const begin = aBegin({ try: tried });
        if ((await ledger.begin(begin)).is !== 'begun') return;
        if (isNeverSent) await ledger.finish(begin, neverSent);
        else maybeSent += 1;
      };
      const acts = Array.from({ length: 30 }, (_, i) => {
        const tried = 1 + ((i * 7 + round) % 5);
        return (i + round) % 4 === 0 ? ledger.resolve(ref(1, tried), position) : activity(tried, (i * 3 + round) % 5 !== 0);
      });
      await Promise.all(acts);
      expect(maybeSent).toBeLessThanOrEqual(1);
      await activity(6, false);
      await activity(7, false);
      expect(maybeSent).toBe(1);
    }
  });

  it('gives the stored outcome to whoever comes later, exactly as it was reported', async () => {
    await ended(completed);
    expect(await ledger.begin(aBegin())).toMatchObject({ is: 'taken', row: { state: 'done', report: completed } });
  });

  it('dates the row by the store', async () => {
    const begin = aBegin();
    await ledger.begin(begin);
    const { begunAt } = await resolved();
    expect(Number.isInteger(begunAt)).toBe(true);
    expect(Math.abs(Date.now() - begunAt)).toBeLessThan(60_000);
  });

  it('keeps tenants, invocations and legs apart', async () => {
    await ended(asked);
    expect(await ledger.begin(aBegin({ tenant: 't2' }))).toMatchObject({ is: 'begun' });
    expect(await ledger.begin(aBegin({ leg: 2 }))).toMatchObject({ is: 'begun' });
    invocation = `inv_${randomUUID()}`;
    expect(await ledger.begin(aBegin())).toMatchObject({ is: 'begun' });
  });

  describe('of a later try', () => {
    it('is allowed after the earlier one was never sent', async () => {
      await ended(neverSent);
      const second = aBegin({ try: 2 });
      expect(await ledger.begin(second)).toMatchObject({ is: 'begun' });
      await ledger.finish(second, completed);
      expect(await ledger.resolve(ref(1, 2), position)).toMatchObject({ state: 'done', try: 2, report: completed });
    });

    it('is allowed after the earlier one was revoked', async () => {
      await ledger.resolve(ref(), position);
      expect(await ledger.begin(aBegin({ try: 2 }))).toMatchObject({ is: 'begun' });
    });

    it.each([
      ['begun and never heard of again', undefined],
      ['answered', completed],
      ['asked', asked],
      ['unknown', unknown],
    ])('is refused when the earlier one was %s (taken)', async (_, report) => {
      if (report === undefined) await ledger.begin(aBegin());
      else await ended(report);
      expect(await ledger.begin(aBegin({ try: 2 }))).toMatchObject({ is: 'taken', row: { try: 1 } });
    });

    it('closes the door on the same and on earlier tries', async () => {
      await ended(neverSent, { try: 2 });
      for (const tried of [1, 2]) expect(await ledger.begin(aBegin({ try: tried }))).toMatchObject({ is: 'taken' });
    });

    it('counts tries as numbers', async () => {
      await ended(neverSent, { try: 9 });
      expect(await ledger.begin(aBegin({ try: 10 }))).toMatchObject({ is: 'begun' });
    });
  });

  describe('of a later leg', () => {
    it('is allowed when the leg before asked', async () => {
      await ended(asked);
      expect(await ledger.begin(aBegin({ leg: 2 }))).toMatchObject({ is: 'begun' });
    });

    it.each([
      ['is not there', undefined],
      ['completed', completed],
      ['is unknown', unknown],
      ['was never sent', neverSent],
    ])('is refused when the leg before %s (previous_leg_missing)', async (_, report) => {
      if (report !== undefined) await ended(report);
      expect(await ledger.begin(aBegin({ leg: 2 }))).toEqual({ is: 'previous_leg_missing' });
    });

    it('is refused while the leg before is begun or revoked (previous_leg_missing)', async () => {
      await ledger.begin(aBegin());
      expect(await ledger.begin(aBegin({ leg: 2 }))).toEqual({ is: 'previous_leg_missing' });
      invocation = `inv_${randomUUID()}`;
      await ledger.resolve(ref(), position);
      expect(await ledger.begin(aBegin({ leg: 2 }))).toEqual({ is: 'previous_leg_missing' });
    });

    it('finds the leg before by number, also past the ninth', async () => {
      for (let leg = 1; leg <= 10; leg += 1) await ended(asked, { leg });
      expect(await ledger.begin(aBegin({ leg: 11 }))).toMatchObject({ is: 'begun' });
    });
  });

  it('stays begun when the reply was lost: the row holds the token, and nobody else may send', async () => {
    const gate = await new TcpGate(new URL(inject('redisUrl'))).open();
    const behind = await connectRedis(gate.url, silentLog);
    const begin = aBegin();
    gate.mute();
    const lost = new Ledger(behind, store.keys).begin(begin).catch((error: unknown) => error);
    await expect.poll(() => store.redis.exists(store.keys.ledger('t1', invocation))).toBe(1);
    gate.cut();
    expect(await lost).toBeInstanceOf(Error);
    expect(await ledger.begin(aBegin())).toMatchObject({ is: 'taken', row: { state: 'begun', token: begin.token } });
    behind.destroy();
    await gate.shut();
  });
});

describe('Ledger.finish', () => {
  it('is for the one who began only (not_begun)', async () => {
    await ledger.begin(aBegin());
    await expect(ledger.finish(aBegin(), completed)).rejects.toMatchObject({ code: 'not_begun' });
    expect(await ledger.resolve(ref(), position)).toMatchObject({ state: 'begun' });
  });

  it('refuses a leg that nobody began, and one that was revoked (not_begun)', async () => {
    await expect(ledger.finish(aBegin(), completed)).rejects.toMatchObject({ code: 'not_begun' });
    await ledger.resolve(ref(), position);
    await expect(ledger.finish(aBegin({ token: '' }), completed)).rejects.toMatchObject({ code: 'not_begun' });
  });

  it('may be repeated with the same report, and never with another (not_begun)', async () => {
    const begin = await ended(completed);
    await ledger.finish(begin, completed);
    await expect(ledger.finish(begin, asked)).rejects.toMatchObject({ code: 'not_begun' });
    expect(await ledger.resolve(ref(), position)).toMatchObject({ report: completed });
  });

  it('refuses an earlier try once a later one took over (not_begun)', async () => {
    const first = await ended(neverSent);
    await ledger.begin(aBegin({ try: 2 }));
    await expect(ledger.finish(first, completed)).rejects.toMatchObject({ code: 'not_begun' });
    await expect(ledger.finish({ ...first, try: 2 }, completed)).rejects.toMatchObject({ code: 'not_begun' });
  });

  it('stores a large result with the outcome, and lets it go with the row', async () => {
    const begin = aBegin();
    await ledger.begin(begin);
    expect(await ledger.blob('t1', invocation, 1)).toBeNull();
    await ledger.finish(begin, completed, 's1.k.large' as Sealed);
    expect(await ledger.blob('t1', invocation, 1)).toBe('s1.k.large');
    const left = await store.redis.pTTL(store.keys.blob('t1', invocation, 1));
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
  });
});

describe('Ledger.resolve', () => {
  it('revokes what was never begun: a late activity loses (taken)', async () => {
    expect(await ledger.resolve(ref(), position)).toMatchObject({ state: 'revoked', try: 1, token: '' });
    expect(await ledger.begin(aBegin())).toMatchObject({ is: 'taken', row: { state: 'revoked' } });
  });

  it('reads what was begun or ended, and changes nothing', async () => {
    const begin = aBegin();
    await ledger.begin(begin);
    expect(await ledger.resolve(ref(), position)).toMatchObject({ state: 'begun', token: begin.token });
    await ledger.finish(begin, completed);
    expect(await resolved()).toEqual({ ...(await resolved()), ageMs: expect.any(Number) });
    expect(await ledger.resolve(ref(), position)).toMatchObject({ state: 'done', report: completed });
  });

  it('revokes a later try whose earlier one never ran', async () => {
    await ended(neverSent);
    expect(await ledger.resolve(ref(1, 2), position)).toMatchObject({ state: 'revoked', try: 2 });
    expect(await ledger.begin(aBegin({ try: 2 }))).toMatchObject({ is: 'taken', row: { state: 'revoked' } });
    expect(await ledger.begin(aBegin({ try: 3 }))).toMatchObject({ is: 'begun' });
  });

  it('never takes an earlier try that may have run for one that did not', async () => {
    await ledger.begin(aBegin());
    expect(await ledger.resolve(ref(1, 2), position)).toMatchObject({ state: 'begun', try: 1 });
  });

  it('may be repeated', async () => {
    const first = await resolved();
    expect(await resolved()).toEqual({ ...first, ageMs: expect.any(Number) });
  });

  it('keeps the row as long as the longest wish', async () => {
    await ledger.resolve(ref(), position);
    const revoked = await store.redis.pTTL(store.keys.ledger('t1', invocation));
    await ledger.begin(aBegin({ try: 2, ttlMs: 1_000 }));
    expect(await store.redis.pTTL(store.keys.ledger('t1', invocation))).toBeGreaterThan(revoked - 60_000);
  });
});

function swapped<A, B>(first: Promise<A>, second: Promise<B>): [Promise<B>, Promise<A>] {
  return [second, first];
}
