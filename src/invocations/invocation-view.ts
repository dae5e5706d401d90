/** What a caller sees of an invocation: the projection's record, with its sealed parts opened. */

import { Injectable } from '@nestjs/common';
import type { FailureDetail } from '../../domain/call.js';
import { Sealer } from '../crypto/sealer.js';
import { Ledger } from '../ledger/ledger.js';
import type { InvocationRecord } from '../records/records.js';
import type { InvocationBody, InvocationSummary } from './invocations.contract.js';

@Injectable()
export class InvocationView {
  constructor(
    private readonly sealer: Sealer,
    private readonly ledger: Ledger,
  ) {}

  async body(record: InvocationRecord): Promise<InvocationBody> {
    return { ...summaryOf(record), result: await this.result(record), problem: this.problem(record) };
  }

  /** @returns null while there is none */
  async result(record: InvocationRecord): Promise<unknown> {
    const { tenant, id: invocation, result } = record;
    if (result === null) return null;
    const leg = result.in === 'store' ? result.leg : record.leg;
    const sealed = result.in === 'store' ? await this.ledger.blob(tenant, invocation, leg) : result.sealed;
    return sealed === null ? null : this.sealer.unseal(sealed, { tenant, invocation, field: `result.${leg}` });
  }

  private problem(record: InvocationRecord): InvocationBody['problem'] {
    const { tenant, id: invocation, outcome, reason, problem, refusedKey } = record;
    if (outcome === null || outcome === 'completed' || reason === null) return null;
    const detail = problem && this.sealer.unseal<FailureDetail>(problem, { tenant, invocation, field: 'problem' });
    return { reason, key: refusedKey ?? null, detail };
  }
}

export function summaryOf(record: InvocationRecord): InvocationSummary {
  const { id, status, outcome, reason, server, method, name, subject, leg, round, consent } = record;
  return {
    id,
    status,
    outcome,
    reason,
    server,
    method,
    name,
    subject,
    leg,
    round,
    consent,
    deadline: record.deadlineAt === null ? null : isoOf(record.deadlineAt),
    startedAt: isoOf(record.startedAt),
    updatedAt: isoOf(record.updatedAt),
  };
}

/** @param at epoch milliseconds */
function isoOf(at: number): string {
  return new Date(at).toISOString();
}
