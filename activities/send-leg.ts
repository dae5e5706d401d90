/**
 * `sendLeg`: one MCP request with its response, on the wire at most once (promise 1, design §5). Never repeated: the ledger's unique
 * row decides who sends, and whoever finds the row taken reads how it ended.
 */

import { randomUUID } from 'node:crypto';
import type { LegOutcome, LegReport } from '../domain/call.js';
import { wireId } from '../domain/ids.js';
import { aboutCall, type Audit, AuditFault } from '../src/audit/audit.js';
import type { Ledger, LedgerRow, LegRef } from '../src/ledger/ledger.js';
import type { LegSender } from '../src/mcp/leg-sender.js';
import type { LegInput } from './contract.js';
import type { LegPlanner, PlannedLeg } from './leg-planner.js';
import type { LegReader, ReadLeg } from './leg-reader.js';
import { untilStored } from './until-stored.js';

export class SendLeg {
  constructor(
    private readonly planner: LegPlanner,
    private readonly ledger: Ledger,
    private readonly audit: Audit,
    private readonly sender: LegSender,
    private readonly reader: LegReader,
    private readonly retentionMs: number,
  ) {}

  async send(input: LegInput): Promise<LegReport> {
    const plan = await this.planner.plan(input);
    if (plan.is === 'not_sendable') return this.unsent(input, plan.outcome);

    const token = randomUUID();
    const begun = await this.ledger.begin({
      ...ref(input),
      token,
      epoch: input.call.ledgerEpoch,
      ttlMs: input.call.policy.callDeadlineMs + this.retentionMs,
      ...(input.answer !== undefined && { answerId: input.answer.answerId }),
    });
    switch (begun.is) {
      case 'begun':
        return this.once(input, plan, token);
      case 'taken':
        return reportOf(begun.row);
      case 'epoch_lost':
      case 'previous_leg_missing':
        return ledgerLost;
      case 'answer_used':
        return { outcome: { is: 'binding_lost', part: 'answer_already_used' } };
    }
    return begun satisfies never;
  }

  /** From here on the row is ours: whatever happens is written to it before it is returned. */
  private async once(input: LegInput, plan: PlannedLeg, token: string): Promise<LegReport> {
    const recorded = await this.recordSubmission(input, plan);
    const { outcome, blob, fault }: ReadLeg = recorded
      ? await this.reader.read(input, plan, await this.sender.send(plan.request))
      : { outcome: { is: 'refused', reason: 'audit_unavailable' } };
    const report: LegReport = { outcome, ...(plan.toolDigest !== undefined && { toolDigest: plan.toolDigest }) };
    await untilStored(() => this.ledger.finish({ ...ref(input), token }, report, blob));
    const misfit = fault?.();
    return misfit === undefined ? report : { ...report, outcome: misfit };
  }

  /** Promise 7: on the record and read back, or nothing is sent. */
  private async recordSubmission(input: LegInput, plan: PlannedLeg): Promise<boolean> {
    const { call, leg, round, answer } = input;
    try {
      await this.audit.append(call.tenant, {
        ...aboutCall(call),
        type: 'leg_submitted',
        leg,
        try: input.try,
        wireId: wireId(call.invocation, leg),
        ...(plan.toolDigest !== undefined && { toolDigest: plan.toolDigest }),
        ...(round?.stateDigest !== undefined && { stateDigest: round.stateDigest }),
        ...(round?.viewDigest !== undefined && { viewDigest: round.viewDigest }),
        ...(answer !== undefined && { consent: answer.consent, actor: answer.actor, receipt: plan.receiptId ?? '' }),
      });
      return true;
    } catch (error) {
      if (error instanceof AuditFault) return false;
      throw error;
    }
  }

  /** The row is revoked, so that no late twin of this activity can send what was found unfit to send. */
  private async unsent(input: LegInput, outcome: LegOutcome): Promise<LegReport> {
    const row = await this.ledger.resolve(ref(input), input.call.ledgerEpoch);
    if (row === 'epoch_lost') return ledgerLost;
    return row.state === 'revoked' ? { outcome } : reportOf(row);
  }
}

const ledgerLost: LegReport = { outcome: { is: 'binding_lost', part: 'ledger_lost' } };

/** What a leg whose row is taken came to, as far as the row tells. */
export function reportOf(row: LedgerRow): LegReport {
  if (row.report !== undefined) return row.report;
  return {
    outcome:
      row.state === 'revoked'
        ? { is: 'never_sent', proof: 'ledger_revoked' }
        : { is: 'unknown', reason: 'begun_and_not_finished' },
  };
}

export function ref(input: LegInput): LegRef {
  const { tenant, invocation } = input.call;
  return { tenant, invocation, leg: input.leg, try: input.try };
}
