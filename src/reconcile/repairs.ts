/**
 * What is done about a call whose workflow is over and has not said so. On the audit record first, as everything that decides about a
 * call; every step may be repeated, and none overwrites what a workflow has published meanwhile.
 */

import { Injectable } from '@nestjs/common';
import type { Ending } from '../../domain/judge.js';
import { Audit, type AuditEvent } from '../audit/audit.js';
import { Config } from '../config/config.js';
import { rememberedMs } from '../idempotency/idempotency.js';
import { Ledger } from '../ledger/ledger.js';
import type { InvocationRecord } from '../records/record.js';
import { Records } from '../records/records.js';
import type { Cause, ClosedConsent } from './decide.js';
import { endingFrom, lastLegOf, type KnownEnding } from './last-leg.js';
import type { SeenConsent } from './seen.js';
import { Workflows } from './workflows.js';

/** How a call ends of which nothing is on its way. */
const unsentAs: Readonly<Record<Cause, Ending>> = {
  never_started: { outcome: 'unreachable', reason: 'never_started' },
  terminated: { outcome: 'cancelled', reason: 'terminated' },
};
const cancelled: Ending = { outcome: 'cancelled', reason: 'cancel_requested' };

@Injectable()
export class Repairs {
  constructor(
    private readonly records: Records,
    private readonly ledger: Ledger,
    private readonly audit: Audit,
    private readonly workflows: Workflows,
    private readonly config: Config,
  ) {}

  /**
   * Closes a call whose workflow is over with what the ledger knows.
   *
   * @returns undefined while a leg of it may still come back
   */
  async close(record: InvocationRecord, cause: Cause, consents: readonly SeenConsent[]): Promise<Ending | undefined> {
    const known = await this.known(record, unsentAs[cause]);
    return known && this.end(record, known, consents);
  }

  /** Puts what a completed workflow returned into its record. */
  async restore(record: InvocationRecord, consents: readonly SeenConsent[]): Promise<Ending> {
    const { tenant, id } = record;
    const [ending, last] = await Promise.all([this.workflows.endingOf(tenant, id), lastLegOf(this.ledger, record)]);
    const isDone = last.is === 'row' && last.row.state === 'done';
    return this.end(record, { ending, leg: isDone ? last.leg : record.leg }, consents);
  }

  /**
   * A call that is to be cancelled and has no workflow that could do it.
   *
   * @param by who asked
   * @returns false when it has a workflow after all, or a leg of it may still come back
   */
  async cancel(record: InvocationRecord, by: string): Promise<boolean> {
    const { state } = await this.workflows.stateOf(record.tenant, record.id);
    if (state.is === 'running' || state.is === 'completed') return false;
    const known = await this.known(record, state.is === 'gone' ? cancelled : unsentAs.terminated);
    if (known === undefined) return false;
    const { consent, round } = record;
    const asked = consent === null ? [] : [{ id: consent, round }];
    await this.end(record, known, asked, by);
    return true;
  }

  async settle(tenant: string, invocation: string, consents: readonly ClosedConsent[]): Promise<void> {
    for (const { id, status } of consents) {
      await this.audit.append(tenant, { type: 'reconciled', invocation, consent: id, code: `consent_${status}` });
      await this.records.closeConsent(tenant, id, status, Date.now());
    }
  }

  private async known(record: InvocationRecord, ifUnsent: Ending): Promise<KnownEnding | undefined> {
    const limits = { graceMs: this.config.reconcile.graceMs, keptForMs: this.config.retentionMs };
    return endingFrom(record, await lastLegOf(this.ledger, record), ifUnsent, Date.now(), limits);
  }

  private async end(
    record: InvocationRecord,
    { ending, leg }: KnownEnding,
    consents: readonly Pick<SeenConsent, 'id' | 'round'>[],
    by?: string,
  ): Promise<Ending> {
    const { tenant } = record;
    const { outcome, reason, result, detail, isError, key } = ending;
    const [open] = consents;
    await this.audit.append(tenant, {
      ...aboutRecord(record),
      type: 'reconciled',
      leg,
      outcome,
      reason,
      ...(open !== undefined && { consent: open.id }),
      ...(by !== undefined && { actor: by }),
    });
    for (const { id, round } of consents) {
      await this.records.closeConsent(tenant, id, leg > round ? 'answered' : 'withdrawn', Date.now());
    }
    const patch = {
      leg,
      outcome,
      reason,
      consent: null,
      deadlineAt: null,
      result: result ?? null,
      problem: detail ?? null,
      ...(isError !== undefined && { isError }),
      ...(key !== undefined && { refusedKey: key }),
    };
    // As long as the request that would start it may come again: it must find that the call is over.
    await this.records.closeUnattended(record, patch, Math.max(this.config.retentionMs, rememberedMs));
    return ending;
  }
}

function aboutRecord({ id, server, method, name, subject, paramsDigest }: InvocationRecord): Omit<AuditEvent, 'type'> {
  return { invocation: id, server, method, name, subject, paramsDigest };
}
