/**
 * Invocations and consents as they are shown (design §7): written by repeatable steps, read without a worker, rebuilt from Temporal if
 * lost. Nothing here decides: the workflow does.
 */

import type { ConsentRecord, ConsentStatus } from '../../domain/consent.js';
import { maxCallDeadlineMs } from '../../domain/policy.js';
import type { InvocationStatus } from '../../domain/outcome.js';
import type { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import { openName } from './open-names.js';
import { memberOf, pageOf, type Page, type PageWish } from './cursor.js';
import { completeRecord, fromFields, toFields, type InvocationRecord } from './record.js';
import {
  applyScript,
  closeConsentScript,
  closeUnattendedScript,
  createScript,
  noteAnswerScript,
  openConsentScript,
} from './records.lua.js';

export type { InvocationRecord } from './record.js';

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
   * One step of the workflow. Steps may come twice and out of order: only a higher sequence counts.
   *
   * @param patch what changed, now unless it says when; a whole record can also rebuild a lost one
   * @returns whether it was written
   */
  async apply(tenant: string, invocation: string, sequence: number, patch: Partial<InvocationRecord>): Promise<boolean> {
    const dated = { updatedAt: Date.now(), ...patch };
    const whole = completeRecord(dated, sequence);
    const indexes = whole === undefined ? [] : this.indexesOf(whole);
    const member = whole === undefined ? '' : memberOf(whole.startedAt, invocation);
    const retention = patch.status === 'closed' ? String(this.options.retentionMs) : '';
    const { sequence: _, ...fields } = dated;
    const args = [...this.step(tenant, invocation, sequence), this.openLife, retention, member, ...toFields(fields)];
    return (await applyScript.run(this.redis, [...this.stepKeys(tenant, invocation), ...indexes], args)) === 1;
  }

  /**
   * Closes an open record whose workflow will not do it. Under the record's own sequence: what a workflow still publishes counts.
   *
   * @param seen the record as it was when that was found out; one that has changed since is left alone
   * @param retentionMs how long it stays readable, where that must be longer than for others
   */
  async closeUnattended(
    seen: Pick<InvocationRecord, 'tenant' | 'id' | 'sequence'>,
    patch: Partial<Omit<InvocationRecord, 'sequence'>>,
    retentionMs = this.options.retentionMs,
  ): Promise<boolean> {
    const { tenant, id, sequence } = seen;
    const fields = toFields({ updatedAt: Date.now(), ...patch, status: 'closed' });
    const args = [...this.step(tenant, id, sequence), this.openLife, String(retentionMs), ...fields];
    return (await closeUnattendedScript.run(this.redis, this.stepKeys(tenant, id), args)) === 1;
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

  /** May be repeated, also after the consent was closed: it is then not opened again. */
  async openConsent(record: ConsentRecord): Promise<void> {
    const { tenant, id, openedAt, deadlineAt } = record;
    const lifeMs = Math.max(Math.ceil(deadlineAt + this.options.retentionMs - Date.now()), 1);
    const args = [openName(tenant, id), memberOf(openedAt, id), String(lifeMs), String(openedAt), ...toFields(record)];
    await openConsentScript.run(this.redis, this.consentKeys(record), args);
  }

  /** May be repeated: the first close stands. An unknown consent is left unknown. */
  async closeConsent(tenant: string, id: string, status: Exclude<ConsentStatus, 'open'>, at: number): Promise<void> {
    const record = await this.consent(tenant, id);
    if (record === null) return;
    const member = memberOf(record.openedAt, id);
    const args = [openName(tenant, id), member, JSON.stringify(status), String(at), String(this.options.retentionMs)];
    await closeConsentScript.run(this.redis, this.consentKeys(record), args);
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
    return [this.keys.record(tenant, invocation), this.keys.openRecords()];
  }

  private consentKeys({ tenant, id, subject }: ConsentRecord): string[] {
    return [this.keys.consent(tenant, id), this.keys.openConsentsOf(tenant, subject), this.keys.openConsents()];
  }

  private indexesOf(record: InvocationRecord): string[] {
    const people = new Set([record.subject, record.requester]);
    return [...people].map((person) => this.keys.recordsOf(record.tenant, person));
  }
}
