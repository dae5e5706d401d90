/**
 * Invocations and consents as they are shown (design §7): written by repeatable steps, read without a worker, rebuilt from Temporal if
 * lost. Nothing here decides: the workflow does.
 */

import type { Sealed } from '../../domain/call.js';
import type { ConsentRecord, ConsentStatus } from '../../domain/consent.js';
import type { ConsentId } from '../../domain/ids.js';
import { maxCallDeadlineMs } from '../../domain/policy.js';
import type { InvocationStatus } from '../../domain/outcome.js';
import type { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import { openName } from './open-names.js';
import { memberOf, pageOf, type Page, type PageWish } from './cursor.js';
import { fromFields, toFields, type InvocationRecord } from './record.js';
import {
  closeConsentScript,
  closeUnattendedScript,
  createScript,
  explainScript,
  noteAnswerScript,
  publishScript,
} from './records.lua.js';

export type { InvocationRecord } from './record.js';

export type OpenConsent = ConsentRecord & { readonly status: 'open' };

/** A question that is open now, or how one ended. */
export type ConsentChange =
  | OpenConsent
  | { readonly id: ConsentId; readonly status: Exclude<ConsentStatus, 'open'>; readonly closedAt: number };

export interface KeptReceipt {
  /** JWS compact. */
  readonly jws: string;
  readonly subject: string;
  readonly invocation: string;
}

export interface RecordsOptions {
  /** How long a closed invocation and its consents stay readable. */
  readonly retentionMs: number;
  /** How long receipts are kept: as long as the audit record that names them. */
  readonly auditRetentionMs: number;
}

export class Records {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly options: RecordsOptions,
  ) {}

  /** @returns false when the invocation is known already: then nothing changed */
  async create(record: InvocationRecord): Promise<boolean> {
    const { tenant, id, startedAt } = record;
    const keys = [this.keys.record(tenant, id), this.keys.openRecords(), ...this.indexesOf(record)];
    const args = [openName(tenant, id), this.openLife, this.keys.record(tenant, ''), memberOf(startedAt, id)];
    return (await createScript.run(this.redis, keys, [...args, ...toFields(record)])) === 1;
  }

  /**
   * One step of the workflow, and what it means for the question it is about: both are seen at once. Steps may come twice and out of
   * order: only a higher sequence counts. Each is the whole record, so that a lost one comes back with the next step.
   *
   * @returns whether it was written
   */
  async publish(record: InvocationRecord, consent?: ConsentChange): Promise<boolean> {
    const { tenant, id, subject, sequence, startedAt, updatedAt } = record;
    const keys = [this.keys.openConsents(), this.keys.openConsentsOf(tenant, subject), ...this.indexesOf(record)];
    const args = [
      ...this.step(tenant, id, sequence),
      this.openLife,
      String(this.options.retentionMs),
      outcomeOf(record),
      memberOf(startedAt, id),
      this.keys.consent(tenant, ''),
      openName(tenant, ''),
      ...this.changeOf(consent, updatedAt),
      ...toFields(record),
    ];
    return (await publishScript.run(this.redis, [...this.stepKeys(tenant, id), ...keys], args)) === 1;
  }

  /**
   * Closes an open record whose workflow will not do it. Under the record's own sequence: what a workflow still publishes counts.
   *
   * @param seen the record as it was when that was found out; one that has changed since is left alone
   * @param retentionMs how long it stays readable, where that must be longer than for others
   */
  async closeUnattended(
    seen: Pick<InvocationRecord, 'tenant' | 'id' | 'sequence'>,
    patch: Partial<Omit<InvocationRecord, 'sequence' | 'status'>>,
    retentionMs = this.options.retentionMs,
  ): Promise<boolean> {
    const { tenant, id, sequence } = seen;
    const closed = { updatedAt: Date.now(), ...patch, status: 'closed' } as const;
    const step = [...this.step(tenant, id, sequence), this.openLife, String(retentionMs)];
    const args = [...step, outcomeOf(closed), ...toFields(closed)];
    return (await closeUnattendedScript.run(this.redis, this.stepKeys(tenant, id), args)) === 1;
  }

  /** More about a call that was closed as indeterminate, whose outcome stays. */
  async explain({ tenant, id, sequence }: InvocationRecord, problem: Sealed): Promise<void> {
    await explainScript.run(this.redis, [this.keys.record(tenant, id)], [String(sequence), JSON.stringify(problem)]);
  }

  async get(tenant: string, id: string): Promise<InvocationRecord | null> {
    return fromFields<InvocationRecord>(await this.redis.hGetAll(this.keys.record(tenant, id)));
  }

  /**
   * What a person started or is the subject of, newest first.
   *
   * @throws {CursorFault}
   */
  async list(
    tenant: string,
    person: string,
    wish: PageWish & { readonly status?: InvocationStatus },
  ): Promise<Page<InvocationRecord>> {
    return pageOf(this.redis, this.keys.recordsOf(tenant, person), wish, async (id) => {
      const record = await this.get(tenant, id);
      return record !== null && wish.status !== undefined && record.status !== wish.status ? undefined : record;
    });
  }

  /** May be repeated: the first close stands. An unknown consent is left unknown. */
  async closeConsent(tenant: string, id: string, status: Exclude<ConsentStatus, 'open'>, at: number): Promise<void> {
    const record = await this.consent(tenant, id);
    if (record === null) return;
    const keys = [this.keys.consent(tenant, id), this.keys.openConsentsOf(tenant, record.subject), this.keys.openConsents()];
    const args = [openName(tenant, id), id, JSON.stringify(status), String(at), String(this.options.retentionMs)];
    await closeConsentScript.run(this.redis, keys, args);
  }

  /** An answer was stored and nobody has judged it yet. */
  async noteAnswer(tenant: string, id: string, at: number): Promise<void> {
    await noteAnswerScript.run(this.redis, [this.keys.consent(tenant, id)], [String(at)]);
  }

  async consent(tenant: string, id: string): Promise<ConsentRecord | null> {
    return fromFields<ConsentRecord>(await this.redis.hGetAll(this.keys.consent(tenant, id)));
  }

  /**
   * A person's inbox, newest first. A consent whose deadline has passed stays in it until the workflow closes it.
   *
   * @throws {CursorFault}
   */
  async openConsents(tenant: string, subject: string, wish: PageWish): Promise<Page<ConsentRecord>> {
    return pageOf(this.redis, this.keys.openConsentsOf(tenant, subject), wish, (id) => this.consent(tenant, id));
  }

  /** The first receipt under an id stands. It is kept as long as the audit record. */
  async saveReceipt(tenant: string, receipt: string, kept: KeptReceipt): Promise<void> {
    const { jws, subject, invocation } = kept;
    await this.redis.set(this.keys.receipt(tenant, receipt), JSON.stringify({ jws, subject, invocation }), {
      condition: 'NX',
      expiration: { type: 'PX', value: this.options.auditRetentionMs },
    });
  }

  async receipt(tenant: string, receipt: string): Promise<KeptReceipt | null> {
    const text = await this.redis.get(this.keys.receipt(tenant, receipt));
    return text === null ? null : (JSON.parse(text) as KeptReceipt);
  }

  /** An open call ends with its deadline at the latest; a record that nobody closes is gone in the end. */
  private get openLife(): string {
    return String(maxCallDeadlineMs + this.options.retentionMs);
  }

  private step(tenant: string, invocation: string, sequence: number): string[] {
    return [this.keys.changes(tenant, invocation), String(sequence), openName(tenant, invocation)];
  }

  private stepKeys(tenant: string, invocation: string): string[] {
    return [this.keys.record(tenant, invocation), this.keys.openRecords(), this.keys.ledger(tenant, invocation)];
  }

  private changeOf(consent: ConsentChange | undefined, now: number): string[] {
    if (consent === undefined) return [String(now), '', '', '', '', '0'];
    const { id, status } = consent;
    if (status !== 'open') return [String(consent.closedAt), id, JSON.stringify(status), '', '', '0'];
    const { openedAt, deadlineAt } = consent;
    const lifeMs = Math.max(Math.ceil(deadlineAt + this.options.retentionMs - now), 1);
    const fields = toFields(consent);
    const count = String(fields.length);
    return [String(openedAt), id, JSON.stringify(status), memberOf(openedAt, id), String(lifeMs), count, ...fields];
  }

  private indexesOf(record: InvocationRecord): string[] {
    const people = new Set([record.subject, record.requester]);
    return [...people].map((person) => this.keys.recordsOf(record.tenant, person));
  }
}

/** What its ledger is to say of it; empty while it is open. */
function outcomeOf({ status, outcome }: Pick<InvocationRecord, 'status'> & Partial<InvocationRecord>): string {
  return status === 'closed' ? (outcome ?? status) : '';
}
