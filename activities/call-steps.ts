/**
 * The small steps around a leg: publish what the workflow decided, put it on the record. Every one may be repeated, for each writes
 * the same thing again; none of them decides anything.
 */

import { bindingOf, lostPart } from '../domain/binding.js';
import { type Audit, aboutCall } from '../src/audit/audit.js';
import type { Ledger } from '../src/ledger/ledger.js';
import { firstRecordOf, type InvocationRecord } from '../src/records/record.js';
import type { ConsentChange, Records } from '../src/records/records.js';
import type { Registry } from '../src/servers/registry.js';
import type {
  AwaitResume,
  AwaitServer,
  CallActivities,
  CloseInvocation,
  CloseRound,
  LegInput,
  Opened,
  OpenRound,
  RecordRefusals,
  Refreshed,
  Resolution,
  Step,
} from './contract.js';
import { position, ref, reportOf } from './send-leg.js';

/** A reply that came at the last moment still has to be written to the ledger. */
const lastWriteMs = 1_000;

export class CallSteps implements CallActivities {
  constructor(
    private readonly records: Records,
    private readonly audit: Audit,
    private readonly ledger: Ledger,
    private readonly registry: Registry,
  ) {}

  async resolveLeg(input: LegInput): Promise<Resolution> {
    const row = await this.ledger.resolve(ref(input), position(input), input.wasBegun);
    // The leg may have been sent, and the row with it: never "it was not begun".
    if (row === 'epoch_lost') return { is: 'settled', report: { outcome: { is: 'unknown', reason: 'ledger_lost' } } };
    const running = row.state === 'begun' && row.report === undefined;
    const waitMs = input.call.policy.legDeadlineMs + lastWriteMs - row.ageMs;
    if (running && waitMs > 0) return { is: 'running', waitMs };
    return { is: 'settled', report: reportOf(row) };
  }

  async openRound(input: OpenRound): Promise<Opened> {
    const { call, opened, consent, leg, round } = input;
    const { viewDigest, stateDigest } = opened;
    const next = { tenant: call.tenant, invocation: call.invocation, leg: leg + 1 };
    const entry = {
      ...aboutCall(call),
      type: 'round_received' as const,
      leg,
      round,
      consent,
      ...(viewDigest !== undefined && { viewDigest }),
      ...(stateDigest !== undefined && { stateDigest }),
    };
    const [nextTry] = await Promise.all([
      this.ledger.mayAsk(next, consent, input.sequence),
      this.audit.append(call.tenant, entry),
    ]);
    if (nextTry === null) return { nextLeg: 'begun' };
    await this.showRound(input);
    return nextTry > 1 ? { nextTry } : {};
  }

  async refreshRound(input: OpenRound): Promise<Refreshed> {
    const { epoch } = await this.ledger.position();
    if (epoch !== input.call.ledgerEpoch) return { ledger: 'lost' };
    const lost = lostPart(bindingOf(input.call), this.registry.get(input.call.server));
    if (lost !== undefined) return { ledger: 'kept', lost };
    await this.showRound(input);
    return { ledger: 'kept' };
  }

  async closeRound(input: CloseRound): Promise<void> {
    const { call, consent, answer, closedAt, leg, round } = input;
    await this.audit.append(call.tenant, {
      ...aboutCall(call),
      type: 'answer_accepted',
      leg,
      round,
      consent,
      actor: answer.actor,
      decision: answer.decision,
      viewDigest: answer.viewDigest,
    });
    await this.publish(input, { status: 'sending', leg: leg + 1 }, { id: consent, status: 'answered', closedAt });
  }

  async awaitServer(input: AwaitServer): Promise<void> {
    const { call, opened, leg, round } = input;
    await this.audit.append(call.tenant, {
      ...aboutCall(call),
      type: 'round_received',
      leg,
      round,
      ...(opened.stateDigest !== undefined && { stateDigest: opened.stateDigest }),
    });
    await this.publish(input, { status: 'awaiting_server' });
  }

  async awaitResume(input: AwaitResume): Promise<void> {
    const { call, leg, reason, deadlineAt } = input;
    await this.audit.append(call.tenant, { ...aboutCall(call), type: 'call_waiting', leg, reason });
    const status = reason === 'reauthorization_required' ? 'awaiting_input' : 'sending';
    await this.publish(input, { status, reason, deadlineAt });
  }

  async closeInvocation(input: CloseInvocation): Promise<void> {
    const { call, ending, leg, consent, closedAt } = input;
    const { outcome, reason, key, isError } = ending;
    await this.audit.append(call.tenant, {
      ...aboutCall(call),
      type: 'invocation_closed',
      leg,
      outcome,
      reason,
      ...(consent !== undefined && { consent: consent.id }),
      ...(input.cancelledBy !== undefined && { actor: input.cancelledBy }),
    });
    const closed = {
      status: 'closed' as const,
      outcome,
      reason,
      result: ending.result ?? null,
      problem: ending.detail ?? null,
      ...(isError !== undefined && { isError }),
      ...(key !== undefined && { refusedKey: key }),
    };
    await this.publish(input, closed, consent && { ...consent, closedAt });
  }

  async recordRefusals({ call, refusals }: RecordRefusals): Promise<void> {
    for (const { answer, verdict } of refusals) {
      if (verdict.is === 'accepted') continue;
      await this.audit.append(call.tenant, {
        ...aboutCall(call),
        type: 'answer_refused',
        consent: answer.consent,
        actor: answer.actor,
        code: verdict.code,
      });
    }
  }

  private async showRound(input: OpenRound): Promise<void> {
    const { call, opened, consent, openedAt, deadlineAt, round, earlier } = input;
    const { view, viewDigest } = opened;
    if (view === undefined || viewDigest === undefined) throw new TypeError('a round that asks a person has a view');
    const { invocation, tenant, subject, server, method, name, paramsDigest } = call;
    const asked = {
      id: consent,
      tenant,
      invocation,
      subject,
      server,
      method,
      name,
      paramsDigest,
      round,
      status: 'open' as const,
      openedAt,
      deadlineAt,
      viewDigest,
      maxAnswerBytes: call.policy.maxAnswerBytes,
      bound: bindingOf(call),
      view,
      ...(earlier !== undefined && { earlier: { consent: earlier.consent, responses: earlier.responses } }),
    };
    await this.publish(input, { status: 'awaiting_input', consent, deadlineAt }, asked);
  }

  private async publish(
    { call, leg, round, sequence }: Step,
    change: Pick<InvocationRecord, 'status'> & Partial<InvocationRecord>,
    consent?: ConsentChange,
  ): Promise<void> {
    await this.records.publish({ ...firstRecordOf(call), updatedAt: Date.now(), leg, round, ...change, sequence }, consent);
  }
}
