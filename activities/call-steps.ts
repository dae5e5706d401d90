/**
 * The small steps around a leg: publish what the workflow decided, put it on the record. Every one may be repeated, for each writes
 * the same thing again; none of them decides anything.
 */

import type { BoundCall } from '../domain/call.js';
import type { AuditEvent, Audit } from '../src/audit/audit.js';
import type { Ledger } from '../src/ledger/ledger.js';
import type { Records } from '../src/records/records.js';
import type {
  AwaitServer,
  CallActivities,
  CloseInvocation,
  CloseRound,
  LegInput,
  OpenRound,
  RecordRefusals,
  Resolution,
} from './contract.js';
import { ref, reportOf } from './send-leg.js';

/** A reply that came at the last moment still has to be written to the ledger. */
const lastWriteMs = 1_000;

export class CallSteps implements CallActivities {
  constructor(
    private readonly records: Records,
    private readonly audit: Audit,
    private readonly ledger: Ledger,
  ) {}

  async resolveLeg(input: LegInput): Promise<Resolution> {
    const row = await this.ledger.resolve(ref(input));
    const running = row.state === 'begun' && row.report === undefined;
    const waitMs = row.begunAt + input.call.policy.legDeadlineMs + lastWriteMs - Date.now();
    if (running && waitMs > 0) return { is: 'running', waitMs };
    return { is: 'settled', report: reportOf(row) };
  }

  async openRound({ call, round, consent, openedAt, deadlineAt, sequence, leg }: OpenRound): Promise<void> {
    if (round.view === undefined || round.viewDigest === undefined) {
      throw new TypeError('a round that asks a person has a view');
    }
    const { invocation, tenant, subject, server, method, name, paramsDigest } = call;
    await this.audit.append(tenant, {
      ...about(call),
      type: 'round_received',
      leg,
      round: round.number,
      consent,
      viewDigest: round.viewDigest,
      ...(round.stateDigest !== undefined && { stateDigest: round.stateDigest }),
    });
    await this.records.openConsent({
      id: consent,
      tenant,
      invocation,
      subject,
      server,
      method,
      name,
      round: round.number,
      status: 'open',
      openedAt,
      deadlineAt,
      paramsDigest,
      viewDigest: round.viewDigest,
      view: round.view,
    });
    await this.records.apply(tenant, invocation, sequence, {
      status: 'awaiting_input',
      leg,
      round: round.number,
      consent,
      deadlineAt,
    });
  }

  async closeRound({ call, consent, answer, closedAt, sequence, leg }: CloseRound): Promise<void> {
    await this.audit.append(call.tenant, {
      ...about(call),
      type: 'answer_accepted',
      leg,
      round: leg,
      consent,
      actor: answer.actor,
      decision: answer.decision,
      viewDigest: answer.viewDigest,
    });
    await this.records.closeConsent(call.tenant, consent, 'answered', closedAt);
    await this.records.apply(call.tenant, call.invocation, sequence, {
      status: 'sending',
      leg: leg + 1,
      consent: null,
      deadlineAt: null,
    });
  }

  async awaitServer({ call, round, sequence, leg }: AwaitServer): Promise<void> {
    await this.audit.append(call.tenant, {
      ...about(call),
      type: 'round_received',
      leg,
      round: round.number,
      ...(round.stateDigest !== undefined && { stateDigest: round.stateDigest }),
    });
    await this.records.apply(call.tenant, call.invocation, sequence, {
      status: 'awaiting_server',
      leg,
      round: round.number,
    });
  }

  async closeInvocation(input: CloseInvocation): Promise<void> {
    const { call, ending, sequence, leg, consent, closedAt } = input;
    const { outcome, reason } = ending;
    await this.audit.append(call.tenant, {
      ...about(call),
      type: 'invocation_closed',
      leg,
      outcome,
      reason,
      ...(consent !== undefined && { consent: consent.id }),
      ...(input.cancelledBy !== undefined && { actor: input.cancelledBy }),
      ...(ending.key !== undefined && { refusedKey: ending.key }),
    });
    if (consent !== undefined) {
      await this.records.closeConsent(call.tenant, consent.id, consent.status, closedAt);
    }
    await this.records.apply(call.tenant, call.invocation, sequence, {
      status: 'closed',
      outcome,
      reason,
      leg,
      consent: null,
      deadlineAt: null,
      result: ending.result ?? null,
      problem: ending.detail ?? null,
      ...(ending.isError !== undefined && { isError: ending.isError }),
      ...(ending.key !== undefined && { refusedKey: ending.key }),
    });
  }

  async recordRefusals({ call, refusals }: RecordRefusals): Promise<void> {
    for (const { answer, verdict } of refusals) {
      if (verdict.is === 'accepted') continue;
      await this.audit.append(call.tenant, {
        ...about(call),
        type: 'answer_refused',
        consent: answer.consent,
        actor: answer.actor,
        code: verdict.code,
      });
    }
  }
}

function about(call: BoundCall): Omit<AuditEvent, 'type'> {
  const { invocation, server, method, name, subject, paramsDigest, policyDigest } = call;
  return { invocation, server, method, name, subject, paramsDigest, policyDigest };
}
