/**
 * The audit record (promise 7): a stream per tenant, append only. A leg is sent only after its entry was written and read back.
 * Entries hold ids, names, digests and codes: no content. Repeats are possible where an activity was repeated, and harmless.
 */

import type { BoundCall } from '../../domain/call.js';
import type { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';

export const auditTypes = [
  'invocation_started',
  'leg_submitted',
  'round_received',
  'url_opened',
  'withdrawal_requested',
  'call_waiting',
  'call_resumed',
  'answer_accepted',
  'answer_refused',
  'invocation_closed',
  'server_held',
  'server_released',
  'tenant_held',
  'tenant_released',
  'reconciled',
  'leg_settled_late',
] as const;
export type AuditType = (typeof auditTypes)[number];

export interface AuditEvent {
  readonly type: AuditType;
  readonly invocation?: string;
  readonly leg?: number;
  /** 1, and one more after each send that provably never happened. */
  readonly try?: number;
  readonly round?: number;
  readonly consent?: string;
  /** Place of an input in its round, from 1: its key is the server's, and may say anything. */
  readonly input?: number;
  readonly server?: string;
  readonly method?: string;
  readonly name?: string;
  /** The authenticated principal who did it. */
  readonly actor?: string;
  /** On whose behalf. */
  readonly subject?: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly decision?: string;
  readonly code?: string;
  readonly paramsDigest?: string;
  readonly stateDigest?: string;
  readonly viewDigest?: string;
  readonly policyDigest?: string;
  readonly toolDigest?: string;
  /** Generation of the live connection that a leg goes over. */
  readonly connection?: string;
  /** Id of a receipt, never the receipt. */
  readonly receipt?: string;
  readonly wireId?: string;
}

/** What every event of one call says of it. */
export function aboutCall(call: BoundCall): Omit<AuditEvent, 'type'> {
  const { invocation, server, method, name, subject, paramsDigest, policyDigest } = call;
  return { invocation, server, method, name, subject, paramsDigest, policyDigest };
}

/** `at`: ISO 8601, on the store's clock. */
export type AuditEntry = AuditEvent & { readonly id: string; readonly at: string };

export interface AuditPage {
  readonly items: readonly AuditEntry[];
  /** Pass as `after`; null when the page was not full. */
  readonly next: string | null;
}

export interface AuditOptions {
  /** How long an entry stays readable, at least. */
  readonly retentionMs: number;
}

export type AuditFaultCode = 'not_written' | 'not_read_back';

/** The record is not known to hold the entry: whatever depended on it must not happen. */
export class AuditFault extends Error {
  constructor(
    readonly code: AuditFaultCode,
    cause?: unknown,
  ) {
    super(code === 'not_written' ? 'the audit entry could not be written' : 'the audit entry could not be read back', { cause });
    this.name = 'AuditFault';
  }
}

const entryIdShape = /^\d{1,15}-\d{1,15}$/;

export class Audit {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly options: AuditOptions,
  ) {}

  /** @throws {AuditFault} */
  async append(tenant: string, event: AuditEvent): Promise<string> {
    const key = this.keys.audit(tenant);
    const text = JSON.stringify(event);
    // Whole blocks of entries that are too old go with each new one; of a tenant that has fallen silent, the whole record goes in the end.
    const threshold = Math.max(Date.now() - this.options.retentionMs, 0);
    const TRIM = { strategy: 'MINID', strategyModifier: '~', threshold } as const;
    const id = await this.redis.xAdd(key, '*', { event: text }, { TRIM }).catch((error: unknown) => {
      throw new AuditFault('not_written', error);
    });
    // No entry depends on it: the next one sets it again.
    void this.redis.pExpire(key, this.options.retentionMs).catch(() => undefined);
    const found = await this.redis.xRange(key, id, id).catch((error: unknown) => {
      throw new AuditFault('not_read_back', error);
    });
    const entry = found?.[0];
    if (entry?.id !== id || entry.message['event'] !== text) throw new AuditFault('not_read_back');
    return id;
  }

  /** Oldest first. An `after` that is no entry id starts at the beginning. */
  async list(tenant: string, page: { readonly after?: string; readonly limit: number }): Promise<AuditPage> {
    const start = page.after !== undefined && isAuditId(page.after) ? `(${page.after}` : '-';
    const entries = await this.redis.xRange(this.keys.audit(tenant), start, '+', { COUNT: page.limit });
    const items = (entries ?? []).map(({ id, message }) => entryFrom(id, message['event'] ?? ''));
    return { items, next: items.length === page.limit ? (items.at(-1)?.id ?? null) : null };
  }
}

export function isAuditId(text: string): boolean {
  return entryIdShape.test(text);
}

function entryFrom(id: string, text: string): AuditEntry {
  const at = new Date(Number(id.split('-')[0])).toISOString();
  return { ...(JSON.parse(text) as AuditEvent), id, at };
}
