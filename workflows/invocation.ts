/**
 * One logical call as one workflow (design §3): send; if the server asks, ask a person; with the answer in hand, send again. It parks
 * for days without a process, and decides alone: every store outside only shows what it decided.
 */

import { CancellationScope, uuid4, workflowInfo } from '@temporalio/workflow';
import type { LegInput } from '../activities/contract.js';
import type { Answer, BoundCall, LegOutcome, OpenableRound } from '../domain/call.js';
import type { ConsentStatus } from '../domain/consent.js';
import { consentIdFrom, type ConsentId } from '../domain/ids.js';
import { judge, noProgress, type Ending, type Progress } from '../domain/judge.js';
import { Inbox } from './inbox.js';
import { awaitServer, closeInvocation, closeRound, openRound, recordRefusals } from './proxies.js';
import { send } from './send.js';
import { showOutcome, showStatus } from './visibility.js';

type Leg = Omit<LegInput, 'try' | 'call'>;

/** What a round came to: the next leg is due, with an answer if a person was asked, or the call is over. */
type Reply = { readonly is: 'next'; readonly answer?: Answer } | { readonly is: 'over'; readonly ending: Ending };

/** The consent that is open when the call ends, and what becomes of it. */
interface OpenConsent {
  readonly id: ConsentId;
  readonly status: Exclude<ConsentStatus, 'open'>;
}

export async function invocation(call: BoundCall): Promise<Ending> {
  const inbox = new Inbox();
  inbox.listen();
  // Cancellation is a message like any other: it must not tear an activity or the closing apart.
  return CancellationScope.nonCancellable(() => new Conversation(call, inbox).run());
}

class Conversation {
  private readonly callDeadlineAt: number;
  private progress: Progress = noProgress;
  private sequence = 0;
  private round = 0;
  private leg: Leg = { leg: 1 };

  constructor(
    private readonly call: BoundCall,
    private readonly inbox: Inbox,
  ) {
    this.callDeadlineAt = call.startedAt + call.policy.callDeadlineMs;
  }

  async run(): Promise<Ending> {
    for (;;) {
      const report = await send({ ...this.leg, call: this.call }, this.inbox, this.callDeadlineAt);
      const toolDigest = this.leg.toolDigest ?? report.toolDigest;
      const step = judge(this.call.policy, this.progress, report.outcome);
      const early = this.stopped(report.outcome.is);
      if (early !== undefined) return this.close(early);
      if (step.is === 'over') return this.close(step.ending);
      if (isHistoryFull()) return this.close({ outcome: 'rounds_exceeded', reason: 'history_cap' });

      this.round = step.round.number;
      const reply = step.is === 'ask' ? await this.ask(step.round) : await this.poll(step.round, step.waitMs);
      if (reply.is === 'over') return reply.ending;
      this.leg = {
        leg: this.leg.leg + 1,
        round: step.round,
        ...(toolDigest !== undefined && { toolDigest }),
        ...(reply.answer !== undefined && { answer: reply.answer }),
      };
    }
  }

  /** A cancellation or the call's deadline ends the call here, unless the server has already ended it. */
  private stopped(last: LegOutcome['is']): Ending | undefined {
    if (last !== 'asked' && last !== 'never_sent') return undefined;
    if (this.inbox.cancelled) return cancelled;
    if (Date.now() >= this.callDeadlineAt) return { outcome: 'expired', reason: 'call_deadline' };
    return undefined;
  }

  /** Parks the call until a person answers the round. */
  private async ask(round: OpenableRound): Promise<Reply> {
    const consent = consentIdFrom(uuid4());
    const openedAt = Date.now();
    const deadlineAt = Math.min(openedAt + this.call.policy.roundDeadlineMs, this.callDeadlineAt);
    const { tenant, subject } = this.call;
    const viewDigest = round.viewDigest ?? '';
    this.inbox.expect({ consent, tenant, subject, viewDigest, deadlineAt });
    showStatus('awaiting_input', deadlineAt);
    await openRound({ ...this.step(), opened: round, consent, openedAt, deadlineAt });

    for (;;) {
      const heard = await this.inbox.news(deadlineAt - Date.now());
      await this.putRefusalsOnRecord();
      // An answer that counts stays one, also when a cancellation came right behind it.
      const { answer } = this.inbox;
      if (answer !== undefined) return this.resume(consent, answer);
      if (this.inbox.cancelled) return this.over(cancelled, { id: consent, status: 'withdrawn' });
      if (!heard) {
        const reason = deadlineAt === this.callDeadlineAt ? 'call_deadline' : 'round_deadline';
        return this.over({ outcome: 'expired', reason }, { id: consent, status: 'expired' });
      }
    }
  }

  private async resume(consent: ConsentId, answer: Answer): Promise<Reply> {
    const cancels = this.progress.cancels + (answer.decision === 'cancel' ? 1 : 0);
    this.progress = { ...this.progress, asked: this.progress.asked + 1, pollsInARow: 0, cancels };
    showStatus('sending');
    await closeRound({ ...this.step(), consent, answer, closedAt: Date.now() });
    return this.inbox.cancelled ? this.over(cancelled) : { is: 'next', answer };
  }

  /** Nobody is asked: the server wants to be called again, later. */
  private async poll(round: OpenableRound, waitMs: number): Promise<Reply> {
    const { polls, pollsInARow } = this.progress;
    this.progress = { ...this.progress, polls: polls + 1, pollsInARow: pollsInARow + 1 };
    if (pollsInARow === 0) showStatus('awaiting_server');
    await awaitServer({ ...this.step(), opened: round });
    await this.inbox.pause(Math.min(waitMs, this.callDeadlineAt - Date.now()), 'waiting for the server');
    await this.putRefusalsOnRecord();
    const early = this.stopped('asked');
    return early === undefined ? { is: 'next' } : this.over(early);
  }

  private async over(ending: Ending, consent?: OpenConsent): Promise<Reply> {
    return { is: 'over', ending: await this.close(ending, consent) };
  }

  private async close(ending: Ending, consent?: OpenConsent): Promise<Ending> {
    if (consent !== undefined) this.inbox.settle(consent.status);
    this.inbox.close();
    showOutcome(ending.outcome);
    const by = ending.outcome === 'cancelled' ? this.inbox.cancelled?.by : undefined;
    await closeInvocation({
      ...this.step(),
      ending,
      closedAt: Date.now(),
      ...(consent !== undefined && { consent }),
      ...(by !== undefined && { cancelledBy: by }),
    });
    await this.putRefusalsOnRecord();
    return ending;
  }

  private async putRefusalsOnRecord(): Promise<void> {
    const refusals = this.inbox.takeRefusals();
    if (refusals.length > 0) await recordRefusals({ call: this.call, refusals });
  }

  private step() {
    return { call: this.call, leg: this.leg.leg, round: this.round, sequence: ++this.sequence };
  }
}

/** Temporal ends a workflow at 50 MB or 51 200 events without a word to anyone; what is left is enough for one more round. */
const maxHistoryBytes = 32 * 1024 * 1024;
const maxHistoryEvents = 45_000;

function isHistoryFull(): boolean {
  const { historySize, historyLength } = workflowInfo();
  return historySize > maxHistoryBytes || historyLength > maxHistoryEvents;
}

const cancelled: Ending = { outcome: 'cancelled', reason: 'cancel_requested' };
