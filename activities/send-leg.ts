/**
 * `sendLeg`: one MCP request with its response, on the wire at most once (promise 1, design §5). Never repeated: the ledger's unique
 * row decides who sends, and whoever finds the row taken reads how it ended.
 */

import { randomUUID } from 'node:crypto';
import { type LegOutcome, type LegReport, notReplicated } from '../domain/call.js';
import { wireId } from '../domain/ids.js';
import { aboutCall, type Audit, AuditFault } from '../src/audit/audit.js';
import type { Ledger, LedgerRow, LegRef, Position } from '../src/ledger/ledger.js';
import type { Log } from '../src/log/log.js';
import type { LegConnections } from '../src/mcp/leg-connections.js';
import type { LegSender, WireOutcome } from '../src/mcp/leg-sender.js';
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
    private readonly log: Pick<Log, 'warn'>,
  ) {}

  /**
   * @param connections of this attempt alone
   * @param onBegun told the ledger's clock once the leg is begun: evidence that should outlive this process
   * @param isCalledOff whether nobody waits for the leg any more: one that is not begun by then never is
   */
  async send(
    input: LegInput,
    connections: LegConnections,
    onBegun: (clock: number) => void = () => {},
    isCalledOff: () => boolean = () => false,
  ): Promise<LegReport> {
    const plan = await this.planner.plan(input, connections);
    if (plan.is === 'not_sendable') return this.unsent(input, plan.outcome);
    if (isCalledOff()) return this.unsent(input, { is: 'never_sent', proof: 'activity_cancelled' });

    const token = randomUUID();
    const begun = await this.ledger.begin({
      ...ref(input),
      token,
      server: input.call.server,
      position: position(input),
      ttlMs: input.call.policy.callDeadlineMs + this.retentionMs,
      ...(input.answer !== undefined && { answerId: input.answer.answerId, consent: input.answer.consent }),
    });
    switch (begun.is) {
      case 'begun':
        onBegun(begun.clock);
        return this.once(input, plan, token, begun.clock);
      case 'taken':
        return reportOf(begun.row);
      case 'epoch_lost':
      case 'previous_leg_missing':
        return ledgerLost;
      case 'answer_used':
      case 'asked_again':
        return { outcome: { is: 'binding_lost', part: 'answer_already_used' } };
      case 'held':
        return this.unsent(input, { is: 'blocked', by: begun.by });
    }
    return begun satisfies never;
  }

  /** From here on the row is ours: whatever happens is written to it before it is returned. */
  private async once(input: LegInput, plan: PlannedLeg, token: string, ledgerClock: number): Promise<LegReport> {
    const { outcome, blob, fault } = await this.sendRecorded(input, plan, token);
    const report: LegReport = {
      outcome,
      ledgerClock,
      ...(plan.toolDigest !== undefined && { toolDigest: plan.toolDigest }),
      ...('connection' in plan.request && { connection: plan.request.connection.binding }),
    };
    await untilStored(() => this.ledger.finish({ ...ref(input), token }, report, blob));
    const misfit = fault?.();
    return misfit === undefined ? report : { ...report, outcome: misfit };
  }

  private async sendRecorded(input: LegInput, plan: PlannedLeg, token: string): Promise<ReadLeg> {
    if (!(await this.ledger.isReplicated({ ...ref(input), token }))) {
      const { invocation } = input.call;
      const what = 'too few replicas confirm that a leg is begun, so it is not sent';
      this.log.warn({ event: 'ledger_not_replicated', invocation, leg: input.leg, try: input.try }, what);
      return { outcome: { is: 'never_sent', proof: notReplicated } };
    }
    if (!(await this.recordSubmission(input, plan))) return { outcome: { is: 'refused', reason: 'audit_unavailable' } };
    return this.reader.read(input, plan, await this.carry(plan));
  }

  /** A live connection carries its own legs; every other leg is one POST. */
  private carry({ request }: PlannedLeg): Promise<WireOutcome> {
    return 'connection' in request ? request.connection.send(request) : this.sender.send(request);
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
        ...('connection' in plan.request && { connection: plan.request.connection.generation }),
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
    const row = await this.ledger.resolve(ref(input), position(input));
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

/** What the call knows of the ledger's life, for {@link Ledger} to compare. */
export function position({ call, ledgerClock = 0 }: LegInput): Position {
  return { epoch: call.ledgerEpoch, clock: Math.max(call.ledgerClock ?? 0, ledgerClock) };
}

export function ref(input: LegInput): LegRef {
  const { tenant, invocation } = input.call;
  return { tenant, invocation, leg: input.leg, try: input.try };
}
