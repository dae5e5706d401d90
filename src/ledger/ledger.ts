/**
 * The ledger (design §5, promise 1): per leg, whether it was begun and how it ended. It stands outside Temporal, because a record that
 * moves with the history cannot stop a reset from sending twice. Every step is one Lua script; of many concurrent begins one wins.
 */

import { randomUUID } from 'node:crypto';
import type { LegReport, Sealed } from '../../domain/call.js';
import type { Outcome, WaitReason } from '../../domain/outcome.js';
import { ownerOfLedger, patternOf, type Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import type { ReplicaWait } from './replica-wait.js';
import {
  askScript,
  beginScript,
  endScript,
  unaccountedScript,
  claimStateScript,
  finishScript,
  resolveScript,
} from './ledger.lua.js';

/** One attempt at one leg. `leg` and `try` count from 1; the key is (tenant, invocation, leg), never a run or activity id. */
export interface LegRef {
  readonly tenant: string;
  readonly invocation: string;
  readonly leg: number;
  readonly try: number;
}

/** A life of the store, and how many legs were begun in it, at least, when the call last heard of it. */
export interface Position {
  readonly epoch: string;
  /** A store that counts fewer has lost writes: a backup was restored, or a replica promoted that lagged behind. */
  readonly clock: number;
}

export interface LedgerRow {
  readonly state: 'begun' | 'done' | 'revoked';
  readonly try: number;
  /** Of the one who began it; empty when revoked. */
  readonly token: string;
  /** Epoch milliseconds on the store's clock: when it was begun, or revoked. */
  readonly begunAt: number;
  /** How long ago that was, by the same clock. */
  readonly ageMs: number;
  /** Present when done. */
  readonly report?: LegReport;
}

export interface Begin extends LegRef {
  /** No leg is begun while an operator holds it, or the tenant. */
  readonly server: string;
  /** Random, new for every execution of the activity: two executions must never share one. */
  readonly token: string;
  readonly position: Position;
  /** The answer this leg carries; used up in the same step. */
  readonly answerId?: string;
  /** What that answers. */
  readonly consent?: string;
  /** How long the invocation's rows are kept, at least: longer than the call's deadline plus Temporal's retention. */
  readonly ttlMs: number;
}

export type BeginVerdict =
  /** `clock`: to be carried by whatever the call asks the ledger from now on. */
  | { readonly is: 'begun'; readonly clock: number }
  | { readonly is: 'taken'; readonly row: LedgerRow }
  | { readonly is: 'epoch_lost' }
  | { readonly is: 'previous_leg_missing' }
  | { readonly is: 'answer_used' }
  /** The person was asked once more, in a run that took over: this answer is of the one that was cut off. */
  | { readonly is: 'asked_again' }
  /** Nothing was written. */
  | { readonly is: 'held'; readonly by: WaitReason };

/** A leg of which nothing else may be left. */
export interface UnaccountedLeg {
  readonly tenant: string;
  readonly invocation: string;
  readonly leg: number;
  readonly ageMs: number;
  /** Kind of its outcome, where it was written down after all: its call was closed without it. */
  readonly came?: string;
}

/** What a ledger says of a call that needs no look any more: its outcome, or that all there is to tell of its last leg is on record. */
export type EndedAs = Outcome | 'acknowledged' | 'settled_late';

export type LedgerFaultCode = 'not_begun' | 'row_malformed';

export class LedgerFault extends Error {
  constructor(readonly code: LedgerFaultCode) {
    super(code === 'not_begun' ? 'this token did not begin the leg, or it is closed' : 'the ledger holds a row it cannot hold');
    this.name = 'LedgerFault';
  }
}

/** Keys looked at in one step: a few milliseconds of the store's time, however many legs their calls have. */
const scanCount = 500;

/** A revoked row must outlive any activity that may still try to begin: beyond the longest call that a policy allows, 365 days. */
const revokedTtlMs = 400 * 24 * 60 * 60_000;

export class Ledger {
  /** The furthest that this process has seen the store. */
  private seen: Position = { epoch: '', clock: 0 };

  /**
   * @param replicas absent where no replica has to confirm; closed with the ledger
   */
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly replicas?: ReplicaWait,
  ) {}

  /** Nothing may be asked afterwards. */
  close(): void {
    this.replicas?.close();
  }

  /** The life of this store, made on first use. A store that was wiped answers another one, and calls bound to the old are lost. */
  async position(): Promise<Position> {
    // Every start of a call asks: one read, and a write only in a new store.
    const known = await this.readPosition();
    if (known !== undefined) return known;
    await this.redis.set(this.keys.epoch(), randomUUID(), { condition: 'NX' });
    const position = await this.readPosition();
    // Only a flush between the two commands ends here; the next caller makes a new epoch.
    if (position === undefined) throw new LedgerFault('row_malformed');
    return position;
  }

  private async readPosition(): Promise<Position | undefined> {
    const [epoch, clock] = await this.redis.mGet([this.keys.epoch(), this.keys.clock()]);
    return typeof epoch === 'string' ? { epoch, clock: Number(clock ?? 0) } : undefined;
  }

  /**
   * The line a leg crosses once. Sending is allowed only after `begun`; after `taken` the row says what is known.
   * A lost reply leaves the leg begun: the row then holds this caller's token.
   */
  async begin(begin: Begin): Promise<BeginVerdict> {
    const previous = begin.leg > 1 ? String(begin.leg - 1) : '';
    const holds = [this.keys.serverHold(begin.server), this.keys.tenantHold(begin.tenant)];
    const reply = (await beginScript.run(
      this.redis,
      [...this.keysOf(begin), ...holds],
      [
        String(begin.leg),
        previous,
        String(begin.try),
        begin.token,
        begin.answerId ?? '',
        begin.consent ?? '',
        String(begin.ttlMs),
        ...this.lifeOf(begin.position),
      ],
    )) as [BeginVerdict['is'], ...(string | null)[]];
    const [is, ...rest] = reply;
    if (is === 'taken') return { is, row: rowFrom(rest) };
    if (is === 'held') return { is, by: rest[0] === '0' ? 'server_held' : 'tenant_held' };
    if (is !== 'begun') return { is };
    const clock = Number(rest[0]);
    this.saw({ epoch: begin.position.epoch, clock });
    return { is, clock };
  }

  /**
   * Whether a person may be asked what this leg is to take along: not when it may have been sent, with an answer of a run that was cut off
   * (`workflow reset`). Where they may, what an earlier question was answered is not sent any more.
   *
   * @param sequence of the step that asks; an older one takes nothing back
   * @returns the leg's next try, for earlier ones would be taken for those of the run that was cut off; null when nobody may be asked
   */
  async mayAsk({ tenant, invocation, leg }: Omit<LegRef, 'try'>, consent: string, sequence: number): Promise<number | null> {
    const args = [String(leg), consent, String(sequence)];
    return (await askScript.run(this.redis, [this.keys.ledger(tenant, invocation)], args)) as number | null;
  }

  /**
   * Whether enough replicas hold the begun leg. It may not be sent before: were the store to fail over, nobody would know of it.
   *
   * @returns false also when they cannot be asked
   */
  async isReplicated(ref: LegRef & { readonly token: string }): Promise<boolean> {
    if (this.replicas === undefined) return true;
    const key = this.keys.ledger(ref.tenant, ref.invocation);
    return this.replicas.confirmed(key, ref.leg, ref.token).catch(() => false);
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
   * @param position what the call last heard of the store; in another life of it, a row that is not there proves nothing
   * @param wasBegun it is known that this try was begun: a row that is not there was lost
   */
  async resolve(ref: LegRef, position: Position, wasBegun = false): Promise<LedgerRow | 'epoch_lost'> {
    const reply = (await resolveScript.run(this.redis, this.keysOf(ref), [
      String(ref.leg),
      String(ref.try),
      String(revokedTtlMs),
      wasBegun ? 'begun' : '',
      ...this.lifeOf(position),
    ])) as (string | null)[];
    return reply[0] === 'epoch_lost' ? 'epoch_lost' : rowFrom(reply);
  }

  /** A large result, still sealed; null when there is none or its time is over. */
  async blob(tenant: string, invocation: string, leg: number): Promise<Sealed | null> {
    return (await this.redis.get(this.keys.blob(tenant, invocation, leg))) as Sealed | null;
  }

  /**
   * Notes who was given a requestState.
   *
   * @param fingerprints keyed, one under every key of the ring, see `Sealer.fingerprints`
   * @returns false if it was seen under another tenant or subject
   */
  async claimState(fingerprints: readonly string[], tenant: string, subject: string, ttlMs: number): Promise<boolean> {
    const owner = JSON.stringify([tenant, subject]);
    const claims = fingerprints.map((each) => this.keys.stateClaim(each));
    return (await claimStateScript.run(this.redis, claims, [owner, String(ttlMs)])) === 1;
  }

  /**
   * Looks through all calls, in steps, for legs that were begun so long ago and of which no call was told, and for those that came back
   * after their call was closed as indeterminate. A call may come twice.
   */
  async *unaccounted(minAgeMs: number): AsyncGenerator<{ readonly calls: number; readonly legs: readonly UnaccountedLeg[] }> {
    const MATCH = patternOf(this.keys.ledger('', ''));
    for await (const names of this.redis.scanIterator({ MATCH, COUNT: scanCount })) {
      if (names.length === 0) continue;
      const told = (await unaccountedScript.run(this.redis, names, [String(minAgeMs)])) as string[];
      yield { calls: names.length, legs: this.legsFrom(names, told) };
    }
  }

  private legsFrom(names: readonly string[], told: readonly string[]): UnaccountedLeg[] {
    return Array.from({ length: told.length / 5 }, (_, n) => {
      const [position, leg, state, ageMs, is = ''] = told.slice(5 * n, 5 * n + 5);
      const owner = ownerOfLedger(names[Number(position) - 1] ?? '');
      return { ...owner, leg: Number(leg), ageMs: Number(ageMs), ...(state === 'done' && { came: is }) };
    });
  }

  /** Nobody need look at this call's legs any more. */
  async end(tenant: string, invocation: string, as: EndedAs): Promise<void> {
    await endScript.run(this.redis, [this.keys.ledger(tenant, invocation)], [as]);
  }

  private keysOf({ tenant, invocation }: LegRef): string[] {
    return [this.keys.epoch(), this.keys.clock(), this.keys.ledger(tenant, invocation)];
  }

  /** The last arguments of every script that must not run in a store that has lost writes: epoch, least clock, epoch to take if it has. */
  private lifeOf({ epoch, clock }: Position): string[] {
    const mark = epoch === this.seen.epoch ? Math.max(clock, this.seen.clock) : clock;
    return [epoch, String(mark), randomUUID()];
  }

  private saw(position: Position): void {
    if (position.epoch !== this.seen.epoch || position.clock > this.seen.clock) this.seen = position;
  }
}

const rowStates = ['begun', 'done', 'revoked'] as const;

function rowFrom([state, tried, token, begunAt, now, report]: readonly (string | null)[]): LedgerRow {
  const known = rowStates.find((name) => name === state);
  if (known === undefined || typeof tried !== 'string' || typeof begunAt !== 'string') throw new LedgerFault('row_malformed');
  const at = Number(begunAt);
  const row = { state: known, try: Number(tried), token: token ?? '', begunAt: at, ageMs: Number(now) - at };
  return typeof report === 'string' ? { ...row, report: JSON.parse(report) as LegReport } : row;
}
