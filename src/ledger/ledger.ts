/**
 * The ledger (design §5, promise 1): per leg, whether it was begun and how it ended. It stands outside Temporal, because a record that
 * moves with the history cannot stop a reset from sending twice. Every step is one Lua script; of many concurrent begins one wins.
 */

import { randomUUID } from 'node:crypto';
import type { LegReport, Sealed } from '../../domain/call.js';
import type { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import { beginScript, claimStateScript, finishScript, resolveScript } from './ledger.lua.js';

/** One attempt at one leg. `leg` and `try` count from 1; the key is (tenant, invocation, leg), never a run or activity id. */
export interface LegRef {
  readonly tenant: string;
  readonly invocation: string;
  readonly leg: number;
  readonly try: number;
}

export interface LedgerRow {
  readonly state: 'begun' | 'done' | 'revoked';
  readonly try: number;
  /** Of the one who began it; empty when revoked. */
  readonly token: string;
  /** Epoch milliseconds on the store's clock: when it was begun, or revoked. */
  readonly begunAt: number;
  /** Present when done. */
  readonly report?: LegReport;
}

export interface Begin extends LegRef {
  /** Random, new for every execution of the activity: two executions must never share one. */
  readonly token: string;
  /** The epoch the call was bound to at its start. */
  readonly epoch: string;
  /** The answer this leg carries; used up in the same step. */
  readonly answerId?: string;
  /** How long the invocation's rows are kept, at least: longer than the call's deadline plus Temporal's retention. */
  readonly ttlMs: number;
}

export type BeginVerdict =
  | { readonly is: 'begun' }
  | { readonly is: 'taken'; readonly row: LedgerRow }
  | { readonly is: 'epoch_lost' }
  | { readonly is: 'previous_leg_missing' }
  | { readonly is: 'answer_used' };

export type LedgerFaultCode = 'not_begun' | 'row_malformed';

export class LedgerFault extends Error {
  constructor(readonly code: LedgerFaultCode) {
    super(code === 'not_begun' ? 'this token did not begin the leg, or it is closed' : 'the ledger holds a row it cannot hold');
    this.name = 'LedgerFault';
  }
}

/** A revoked row must outlive any activity that may still try to begin: beyond the longest call that a policy allows, 365 days. */
const revokedTtlMs = 400 * 24 * 60 * 60_000;

export class Ledger {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** The life of this store, made on first use. A store that was wiped answers another one, and calls bound to the old are lost. */
  async epoch(): Promise<string> {
    // Every start of a call asks: one read, and a write only in a new store.
    const known = await this.redis.get(this.keys.epoch());
    if (known !== null) return known;
    await this.redis.set(this.keys.epoch(), randomUUID(), { condition: 'NX' });
    const epoch = await this.redis.get(this.keys.epoch());
    // Only a flush between the two commands ends here; the next caller makes a new epoch.
    if (epoch === null) throw new LedgerFault('row_malformed');
    return epoch;
  }

  /**
   * The line a leg crosses once. Sending is allowed only after `begun`; after `taken` the row says what is known.
   * A lost reply leaves the leg begun: the row then holds this caller's token.
   */
  async begin(begin: Begin): Promise<BeginVerdict> {
    const previous = begin.leg > 1 ? String(begin.leg - 1) : '';
    const reply = (await beginScript.run(
      this.redis,
      [this.keys.epoch(), this.keys.ledger(begin.tenant, begin.invocation)],
      [String(begin.leg), previous, String(begin.try), begin.token, begin.epoch, begin.answerId ?? '', String(begin.ttlMs)],
    )) as [BeginVerdict['is'], ...(string | null)[]];
    const [is, ...row] = reply;
    return is === 'taken' ? { is, row: rowFrom(row) } : { is };
  }

  /**
   * Records how the leg ended, before anyone else hears of it. May be repeated with the same report.
   *
   * @param blob a result too large for the report
   * @throws {LedgerFault} `not_begun` when another token, or nobody, holds the leg
   */
  async finish(ref: LegRef & { readonly token: string }, report: LegReport, blob?: Sealed): Promise<void> {
    const verdict = await finishScript.run(
      this.redis,
      [this.keys.ledger(ref.tenant, ref.invocation), this.keys.blob(ref.tenant, ref.invocation, ref.leg)],
      [String(ref.leg), String(ref.try), ref.token, report.outcome.is, JSON.stringify(report), blob ?? ''],
    );
    if (verdict !== 'done') throw new LedgerFault('not_begun');
  }

  /**
   * What became of a leg whose activity did not report. Never begun → revoked, for good: nothing was or will be sent under this try.
   *
   * @param epoch the one the call was bound to; in another, a row that is not there proves nothing
   */
  async resolve(ref: LegRef, epoch: string): Promise<LedgerRow | 'epoch_lost'> {
    const reply = (await resolveScript.run(
      this.redis,
      [this.keys.epoch(), this.keys.ledger(ref.tenant, ref.invocation)],
      [String(ref.leg), String(ref.try), epoch, String(revokedTtlMs)],
    )) as (string | null)[];
    return reply[0] === 'epoch_lost' ? 'epoch_lost' : rowFrom(reply);
  }

  /** A large result, still sealed; null when there is none or its time is over. */
  async blob(tenant: string, invocation: string, leg: number): Promise<Sealed | null> {
    return (await this.redis.get(this.keys.blob(tenant, invocation, leg))) as Sealed | null;
  }

  /**
   * Notes who was given a requestState.
   *
   * @param fingerprint keyed, see `Sealer.fingerprint`
   * @returns false if it was seen under another tenant or subject
   */
  async claimState(fingerprint: string, tenant: string, subject: string, ttlMs: number): Promise<boolean> {
    const owner = JSON.stringify([tenant, subject]);
    return (await claimStateScript.run(this.redis, [this.keys.stateClaim(fingerprint)], [owner, String(ttlMs)])) === 1;
  }
}

const rowStates = ['begun', 'done', 'revoked'] as const;

function rowFrom([state, tried, token, begunAt, report]: readonly (string | null)[]): LedgerRow {
  const known = rowStates.find((name) => name === state);
  if (known === undefined || typeof tried !== 'string' || typeof begunAt !== 'string') throw new LedgerFault('row_malformed');
  const row = { state: known, try: Number(tried), token: token ?? '', begunAt: Number(begunAt) };
  return typeof report === 'string' ? { ...row, report: JSON.parse(report) as LegReport } : row;
}
