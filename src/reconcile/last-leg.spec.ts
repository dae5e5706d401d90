import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freshStore, type FreshStore } from '../../test/harness/fresh-store.js';
import { aRecord } from '../../test/harness/a-record.js';
import type { LegOutcome, Sealed } from '../../domain/call.js';
import type { Ending } from '../../domain/judge.js';
import { Ledger } from '../ledger/ledger.js';
import type { InvocationRecord } from '../records/record.js';
import { endingFrom, lastLegOf } from './last-leg.js';

let store: FreshStore;
let ledger: Ledger;
let epoch: string;
beforeAll(async () => {
  store = await freshStore();
  ledger = new Ledger(store.redis, store.keys);
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.wipe();
  ({ epoch } = await ledger.position());
});

const sealed = 's1.k.x' as Sealed;
const asked: LegOutcome = { is: 'asked', round: { number: 1 } };
const completed: LegOutcome = { is: 'completed', result: { in: 'history', sealed, bytes: 2 }, isError: false };
const terminated: Ending = { outcome: 'cancelled', reason: 'terminated' };
const limits = { graceMs: 1_000, keptForMs: 60_000 };

const record = (overrides: Partial<InvocationRecord> = {}): InvocationRecord =>
  aRecord({ ledgerEpoch: epoch, legDeadlineMs: 5_000, startedAt: Date.now(), updatedAt: Date.now(), ...overrides });

const begin = (of: InvocationRecord, leg: number, tried = 1, token = `token-${leg}`) =>
  ledger.begin({
    tenant: 't1',
    server: 's1',
    invocation: of.id,
    leg,
    try: tried,
    token,
    position: { epoch, clock: 0 },
    ttlMs: 60_000,
  });
async function ran(of: InvocationRecord, leg: number, outcome: LegOutcome): Promise<void> {
  await begin(of, leg);
  await ledger.finish({ tenant: 't1', invocation: of.id, leg, try: 1, token: `token-${leg}` }, { outcome });
}
const ending = async (of: InvocationRecord, nowAt = Date.now()) =>
  endingFrom(of, await lastLegOf(ledger, of), terminated, nowAt, limits);
const unknown = { outcome: 'indeterminate', reason: 'leg_unknown' };

describe('how a call ended whose workflow is over', () => {
  it('before its first leg: nothing was sent', async () => {
    expect(await ending(record())).toEqual({ leg: 1, ending: terminated });
  });

  it('and then no activity that outlived it can send, whatever its try [P1]', async () => {
    const of = record();
    await ending(of);
    for (const tried of [1, 2, 1_000])
      expect(await begin(of, 1, tried)).toMatchObject({ is: 'taken', row: { state: 'revoked' } });
  });

  it('while a person was asked: the leg behind the question cannot be sent any more [P1]', async () => {
    const of = record({ status: 'awaiting_input', round: 1, sequence: 1 });
    await ran(of, 1, asked);
    expect(await ending(of)).toEqual({ leg: 1, ending: terminated });
    expect(await begin(of, 2)).toMatchObject({ is: 'taken', row: { state: 'revoked' } });
  });

  it('behind what its record says: what the ledger knows counts [P1]', async () => {
    const of = record({ status: 'awaiting_server', round: 1, sequence: 1 });
    await ran(of, 1, asked);
    await ran(of, 2, completed);
    expect(await ending(of)).toMatchObject({
      leg: 2,
      ending: { outcome: 'completed', reason: 'complete_result', result: { sealed } },
    });
  });

  it('after legs with which the server did nothing: the one that followed counts [P1]', async () => {
    const of = record({ status: 'sending', leg: 2, round: 1, sequence: 2 });
    await ran(of, 1, asked);
    await ran(of, 2, { is: 'turned_away', why: 'headers', detail: sealed });
    await ran(of, 3, { is: 'state_expired' });
    await ran(of, 4, completed);
    expect(await ending(of)).toMatchObject({ leg: 4, ending: { outcome: 'completed' } });
  });

  it.each<[LegOutcome, object]>([
    [
      { is: 'failed', reason: 'server_error', detail: sealed },
      { outcome: 'failed', reason: 'server_error', detail: sealed },
    ],
    [
      { is: 'refused', reason: 'state_foreign' },
      { outcome: 'refused', reason: 'state_foreign' },
    ],
    [{ is: 'unknown', reason: 'timeout' }, unknown],
    [{ is: 'never_sent', proof: 'connect_refused' }, terminated],
  ])('%o', async (outcome, expected) => {
    const of = record();
    await ran(of, 1, outcome);
    expect(await ending(of)).toMatchObject({ leg: 1, ending: expected });
  });

  it('with a leg on its way: nobody knows yet, and nobody knows when its time is over [P1]', async () => {
    const of = record();
    await begin(of, 1);
    expect(await ending(of)).toBeUndefined();
    // Whatever the clock of this process says: the row was begun on the store's.
    expect(await ending(of, Date.now() + 3_600_000)).toBeUndefined();
    await store.redis.hIncrBy(store.keys.ledger('t1', of.id), '1.begunAt', -6_500);
    expect(await ending(of)).toEqual({ leg: 1, ending: unknown });
  });

  it('with a ledger that is another, or that may have forgotten: nobody knows [P1]', async () => {
    const wiped = record();
    await store.wipe();
    expect(await ending(wiped)).toMatchObject({ ending: unknown });
    ({ epoch } = await ledger.position());
    const { ledgerEpoch: _, ...before } = record();
    expect(await ending(before)).toMatchObject({ ending: unknown });
    expect(await ending(record({ leg: 2 }))).toEqual({ leg: 2, ending: unknown });
    expect(await ending(record({ startedAt: Date.now() - limits.keptForMs }))).toMatchObject({ ending: unknown });
  });
});
