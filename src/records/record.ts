/** The projection of one invocation: what GET shows (design §7). It is written by idempotent steps and decides nothing. */

import type { BoundCall, Method, ResultRef, Sealed } from '../../domain/call.js';
import type { ConsentId, InvocationId } from '../../domain/ids.js';
import type { InvocationStatus, Outcome, Reason, WaitReason } from '../../domain/outcome.js';

export interface InvocationRecord {
  readonly id: InvocationId;
  readonly tenant: string;
  readonly subject: string;
  readonly requester: string;
  readonly server: string;
  readonly method: Method;
  readonly name: string;
  /** RFC 8785 digest of the original params; goes on receipts. */
  readonly paramsDigest: string;
  /** The epoch the call was bound to: in another one, a ledger row that is not there proves nothing. */
  readonly ledgerEpoch?: string;
  /** What the ledger's clock showed when the call was started. */
  readonly ledgerClock?: number;
  /** How long one leg may take; from the call's policy. */
  readonly legDeadlineMs?: number;
  readonly status: InvocationStatus;
  readonly outcome: Outcome | null;
  /** Of the outcome; while the call is open, what it waits for beside an answer. */
  readonly reason: Reason | WaitReason | null;
  readonly leg: number;
  readonly round: number;
  /** The open consent. */
  readonly consent: ConsentId | null;
  /** Epoch milliseconds, as all instants here. */
  readonly deadlineAt: number | null;
  readonly startedAt: number;
  readonly updatedAt: number;
  /** Grows with every step of the workflow; an older step never overwrites a newer one. */
  readonly sequence: number;
  readonly result: ResultRef | null;
  readonly isError?: boolean;
  /** Sealed detail of a failure, field `problem`. */
  readonly problem: Sealed | null;
  /** The server's key that the gate refused. */
  readonly refusedKey?: string;
}

/** A call to which nothing has happened yet. */
export function firstRecordOf(call: BoundCall): InvocationRecord {
  const { invocation, tenant, subject, requester, server, method, name, paramsDigest, startedAt } = call;
  const { ledgerEpoch, ledgerClock, policy } = call;
  return {
    id: invocation,
    tenant,
    subject,
    requester,
    server,
    method,
    name,
    paramsDigest,
    ledgerEpoch,
    ...(ledgerClock !== undefined && { ledgerClock }),
    legDeadlineMs: policy.legDeadlineMs,
    status: 'sending',
    outcome: null,
    reason: null,
    leg: 1,
    round: 0,
    consent: null,
    deadlineAt: null,
    startedAt,
    updatedAt: startedAt,
    sequence: 0,
    result: null,
    problem: null,
  };
}

/** Flat field, value, field, value …: each value as JSON, absent members left out. */
export function toFields(record: object): string[] {
  return Object.entries(record).flatMap(([name, value]) => (value === undefined ? [] : [name, JSON.stringify(value)]));
}

/** @returns null for an absent hash */
export function fromFields<T>(fields: Record<string, string>): T | null {
  const entries = Object.entries(fields).map(([name, text]) => [name, JSON.parse(text) as unknown]);
  return entries.length === 0 ? null : (Object.fromEntries(entries) as T);
}
