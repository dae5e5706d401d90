/**
 * Invocations and consents as they are shown (design §7): written by repeatable steps, read without a worker, rebuilt from Temporal if
 * lost. Nothing here decides: the workflow does.
 */

import type { ConsentRecord, ConsentStatus } from '../../domain/consent.js';
import type { InvocationStatus } from '../../domain/outcome.js';
import type { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import { memberOf, pageOf, type Page, type PageWish } from './cursor.js';
import { completeRecord, fromFields, toFields, type InvocationRecord } from './record.js';
import { applyScript, closeConsentScript, createScript, openConsentScript } from './records.lua.js';

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
}

export class Records {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly options: RecordsOptions,
  ) {}

  /** @returns false when the invocation is known already: then nothing changed */
  async create(record: InvocationRecord): Promise<boolean> {
    const keys = [this.keys.record(record.tenant, record.id), ...this.indexesOf(record)];
    return (await createScript.run(this.redis, keys, [memberOf(record.startedAt, record.id), ...toFields(record)])) === 1;
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
    const keys = [this.keys.record(tenant, invocation), ...(whole === undefined ? [] : this.indexesOf(whole))];
    const member = whole === undefined ? '' : memberOf(whole.startedAt, invocation);
    const retention = patch.status === 'closed' ? String(this.options.retentionMs) : '';
    const { sequence: _, ...fields } = dated;
    const args = [this.keys.changes(tenant, invocation), String(sequence), retention, member, ...toFields(fields)];
    return (await applyScript.run(this.redis, keys, args)) === 1;
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
    const keys = [this.keys.consent(record.tenant, record.id), this.keys.openConsentsOf(record.tenant, record.subject)];
    const expiresAt = String(Math.ceil(record.deadlineAt + this.options.retentionMs));
    await openConsentScript.run(this.redis, keys, [memberOf(record.openedAt, record.id), expiresAt, ...toFields(record)]);
  }

  /** May be repeated: the first close stands. An unknown consent is left unknown. */
  async closeConsent(tenant: string, id: string, status: Exclude<ConsentStatus, 'open'>, at: number): Promise<void> {
    const record = await this.consent(tenant, id);
    if (record === null) return;
    const keys = [this.keys.consent(tenant, id), this.keys.openConsentsOf(tenant, record.subject)];
    const args = [memberOf(record.openedAt, id), JSON.stringify(status), String(at), String(this.options.retentionMs)];
    await closeConsentScript.run(this.redis, keys, args);
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

  /** The first receipt under an id stands. Receipts are evidence and are kept without a limit. */
  async saveReceipt(tenant: string, receipt: string, kept: KeptReceipt): Promise<void> {
    const { jws, subject, invocation } = kept;
    await this.redis.set(this.keys.receipt(tenant, receipt), JSON.stringify({ jws, subject, invocation }), { condition: 'NX' });
  }

  async receipt(tenant: string, receipt: string): Promise<KeptReceipt | null> {
    const text = await this.redis.get(this.keys.receipt(tenant, receipt));
    return text === null ? null : (JSON.parse(text) as KeptReceipt);
  }

  private indexesOf(record: InvocationRecord): string[] {
    const people = new Set([record.subject, record.requester]);
    return [...people].map((person) => this.keys.recordsOf(record.tenant, person));
  }
}
