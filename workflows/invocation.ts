/**
 * One logical call as one workflow (design §3): send; if the server asks, ask a person; with the answer in hand, send again. It parks
 * for days without a process, and decides alone: every store outside only shows what it decided.
 */

import { CancellationScope, continueAsNew, patched, uuid4, workflowInfo } from '@temporalio/workflow';
import type { Answer, BoundCall, LegOutcome, LegReport, OpenableRound } from '../domain/call.js';
import type { ConsentStatus } from '../domain/consent.js';
import { consentIdFrom, type ConsentId } from '../domain/ids.js';
import { againOf, judge, noProgress, undecided, type Ending, type Progress, type Step } from '../domain/judge.js';
import { watchConnection } from './connection.js';
import { callDeadline, cancelled, cancelledBy, connectionLost, ledgerLost } from './endings.js';
import { carriable, type Carried, type Leg } from './carried.js';
import { Inbox } from './inbox.js';
import { awaitResume, awaitServer, closeInvocation, closeRound, openRound, recordRefusals, refreshRound } from './proxies.js';
import { follow, send } from './send.js';
import { showOutcome, showStatus } from './visibility.js';

/** What a step came to: the next leg is due, or the call is over. */
type Reply = { readonly is: 'next'; readonly leg: Leg } | { readonly is: 'over'; readonly ending: Ending };

/** The consent that is open when the call ends, and what becomes of it. */
interface OpenConsent {
  readonly id: ConsentId;
  readonly status: Exclude<ConsentStatus, 'open'>;
}

export async function invocation(call: BoundCall, carried?: Carried): Promise<Ending> {
  const inbox = new Inbox(carried?.inbox);
  inbox.listen();
  // Cancellation is a message like any other: it must not tear an activity or the closing apart.
  return CancellationScope.nonCancellable(() => new Conversation(call, inbox, carried).run());
}

class Conversation {
  private readonly callDeadlineAt: number;
  private progress: Progress;
  private sequence: number;
  private round: number;
  private leg: Leg;
  /** The answers that counted, to be offered again should the server forget its state. */
  private readonly answered: Answer[];

  constructor(
    private readonly call: BoundCall,
    private readonly inbox: Inbox,
    carried?: Carried,
  ) {
    this.callDeadlineAt = call.startedAt + call.policy.callDeadlineMs;
    this.progress = carried?.progress ?? noProgress;
    this.sequence = carried?.sequence ?? 0;
    this.round = carried?.round ?? 0;
    this.leg = carried?.leg ?? { leg: 1, try: 1 };
    this.answered = [...(carried?.answered ?? [])];
  }

  async run(): Promise<Ending> {
    for (;;) {
      if (workflowInfo().continueAsNewSuggested) return this.continueAsNew();
      const report = await this.send();
      const step = judge(this.call.policy, this.progress, report.outcome);
      const early = this.stopped(report.outcome.is);
      if (early !== undefined) return this.close(early);
      if (step.is === 'over') return this.close(step.ending);

      // What a person is asked about is what stays bound.
      const toolDigest = this.leg.toolDigest ?? (report.outcome.is === 'asked' ? report.toolDigest : undefined);
      const connection = this.leg.connection ?? (report.outcome.is === 'asked' ? report.connection : undefined);
      const unwatch = watchConnection(connection, this.call, () => this.inbox.loseConnection());
      const reply = await this.take(step);
      unwatch();
      if (reply.is === 'over') return reply.ending;
      const ledgerClock = report.ledgerClock ?? this.leg.ledgerClock;
      this.leg = {
        ...reply.leg,
        ...(toolDigest !== undefined && { toolDigest }),
        ...(connection !== undefined && { connection }),
        ...(ledgerClock !== undefined && { ledgerClock }),
      };
    }
  }

  private send(): Promise<LegReport> {
    const { isFollowed, ...leg } = this.leg;
    const input = { ...leg, call: this.call };
    return isFollowed ? follow(input) : send(input, this.inbox, this.callDeadlineAt);
  }

  /** Does what has to come before the next leg. */
  private async take(step: Exclude<Step, { is: 'over' }>): Promise<Reply> {
    const { leg, round, isFollowed } = this.leg;
    const again = againOf(step);
    if (isFollowed && round !== undefined && again !== undefined) {
      // It is to take its answer along once more, which this run does not have: the person is asked anew.
      this.leg = { ...this.leg, leg: again === 'repeat' ? leg : leg - 1 };
      return this.ask(round);
    }
    switch (step.is) {
      case 'ask':
        this.count(anew);
        return this.ask(step.round);
      case 'poll':
        this.count(anew);
        return this.poll(step.round, step.waitMs);
      case 'try_again':
        this.count({ unsent: this.progress.unsent + 1 });
        return this.pause(step.waitMs, 'waiting to reach the server', this.sameLeg());
      case 'wait':
        this.count({ waits: this.progress.waits + 1 });
        return this.wait(step);
      case 'repeat':
        this.count({ misheaded: this.progress.misheaded + 1 });
        return { is: 'next', leg: this.repeatedLeg() };
      case 'start_afresh':
        this.count({ ...anew, reasks: this.progress.reasks + 1 });
        return { is: 'next', leg: this.newLeg({}) };
    }
    return step satisfies never;
  }

  private newLeg(content: Pick<Leg, 'round' | 'answer'>): Leg {
    return { leg: this.leg.leg + 1, try: 1, ...content };
  }

  /** The server did nothing with this leg's content: a new leg carries it again. */
  private repeatedLeg(): Leg {
    return { ...this.leg, leg: this.leg.leg + 1, try: 1 };
  }

  /** Nothing of this leg ever reached the server, so it keeps its number. */
  private sameLeg(): Leg {
    return { ...this.leg, try: this.leg.try + 1 };
  }

  private count(change: Partial<Progress>): void {
    this.progress = { ...this.progress, ...change };
  }

  /** A cancellation, a lost connection or the call's deadline ends the call here, unless the server has already ended it. */
  private stopped(last: LegOutcome['is']): Ending | undefined {
    // Whoever wants a call to end that could go on is heard first.
    if (!undecided.has(last)) return undefined;
    if (this.inbox.cancelled) return cancelled;
    if (this.inbox.isConnectionLost) return connectionLost;
    if (Date.now() >= this.callDeadlineAt) return callDeadline;
    return undefined;
  }

  /** Parks the call until a person answers the round. */
  private async ask(opened: OpenableRound): Promise<Reply> {
    this.round = opened.number;
    const consent = consentIdFrom(uuid4());
    const openedAt = Date.now();
    const deadlineAt = Math.min(openedAt + this.call.policy.roundDeadlineMs, this.callDeadlineAt);
    const { tenant, subject } = this.call;
    const viewDigest = opened.viewDigest ?? '';
    const earlier = this.answered.findLast((answer) => answer.viewDigest === viewDigest);
    const shown = { opened, consent, openedAt, deadlineAt, ...(earlier !== undefined && { earlier }) };
    this.inbox.expect({ consent, tenant, subject, viewDigest, deadlineAt });
    showStatus('awaiting_input', deadlineAt);
    const { nextLeg, nextTry = 1 } = (await openRound({ ...this.step(), ...shown })) ?? {};
    if (nextLeg === 'begun') return this.follow(opened);

    for (;;) {
      const heard = await this.inbox.news(deadlineAt - Date.now());
      await this.putRefusalsOnRecord();
      // An answer that counts stays one, also when a cancellation came right behind it.
      const { answer } = this.inbox;
      if (answer !== undefined) return this.resume(opened, consent, answer, nextTry);
      if (this.inbox.cancelled) return this.over(cancelledBy(this.inbox.cancelled), { id: consent, status: 'withdrawn' });
      if (this.inbox.isConnectionLost) return this.over(connectionLost, { id: consent, status: 'withdrawn' });
      if (this.inbox.takeRefresh()) {
        const { ledger, lost } = await refreshRound({ ...this.step(), ...shown });
        if (ledger === 'lost') return this.over(ledgerLost, { id: consent, status: 'withdrawn' });
        // An answer that counts by now goes on to its leg, where the same is found.
        if (lost !== undefined && this.inbox.answer === undefined) {
          return this.over({ outcome: 'binding_lost', reason: lost }, { id: consent, status: 'withdrawn' });
        }
      } else if (!heard) {
        const reason = deadlineAt === this.callDeadlineAt ? 'call_deadline' : 'round_deadline';
        return this.over({ outcome: 'expired', reason }, { id: consent, status: 'expired' });
      }
    }
  }

  /** This run began again from an earlier point: what the run before has sent is not asked again, and not sent again. */
  private follow(round: OpenableRound): Reply {
    this.inbox.settle('withdrawn');
    // What was answered is not known here: as if it was no accept, after which nothing is asked afresh.
    this.count({ asked: this.progress.asked + 1, pollsInARow: 0, isDeclined: true });
    showStatus('sending');
    return { is: 'next', leg: { ...this.newLeg({ round }), isFollowed: true } };
  }

  private async resume(round: OpenableRound, consent: ConsentId, answer: Answer, nextTry: number): Promise<Reply> {
    const { asked, cancels } = this.progress;
    const isDeclined = answer.decision !== 'accept';
    this.count({ asked: asked + 1, pollsInARow: 0, cancels: cancels + (answer.decision === 'cancel' ? 1 : 0), isDeclined });
    if (this.call.policy.onStateExpired === 'reask') this.answered.push(answer);
    showStatus('sending');
    await closeRound({ ...this.step(), consent, answer, closedAt: Date.now() });
    if (this.inbox.cancelled) return this.over(cancelled);
    // An answer that was given in time counts, but a worker may have heard of it long after the call's deadline.
    const isOverdue = Date.now() >= this.callDeadlineAt && patched('no-leg-after-the-call-deadline');
    return isOverdue ? this.over(callDeadline) : { is: 'next', leg: { ...this.newLeg({ round, answer }), try: nextTry } };
  }

  /** Nobody is asked: the server wants to be called again, later. */
  private async poll(round: OpenableRound, waitMs: number): Promise<Reply> {
    this.round = round.number;
    const { polls, pollsInARow } = this.progress;
    this.count({ polls: polls + 1, pollsInARow: pollsInARow + 1 });
    if (pollsInARow === 0) showStatus('awaiting_server');
    await awaitServer({ ...this.step(), opened: round });
    return this.pause(waitMs, 'waiting for the server', this.newLeg({ round }));
  }

  /** Parks the call until somebody has acted on what it waits for: an operator, or whoever renews a credential. */
  private async wait({ for: reason, lookAgainMs, next }: Extract<Step, { is: 'wait' }>): Promise<Reply> {
    this.inbox.forgetResume();
    const isForPerson = reason === 'reauthorization_required';
    const roundDeadlineAt = isForPerson ? Date.now() + this.call.policy.roundDeadlineMs : this.callDeadlineAt;
    const deadlineAt = Math.min(roundDeadlineAt, this.callDeadlineAt);
    const lookAt = Math.min(lookAgainMs === undefined ? deadlineAt : Date.now() + lookAgainMs, deadlineAt);
    showStatus(isForPerson ? 'awaiting_input' : 'held', deadlineAt);
    for (let isOver = false; !isOver;) {
      await awaitResume({ ...this.step(), reason, deadlineAt });
      const isResumed = await this.inbox.resumed(lookAt - Date.now());
      await this.putRefusalsOnRecord();
      const early = this.stopped('blocked');
      if (early !== undefined) return this.over(early);
      this.inbox.takeRefresh();
      isOver = isResumed || Date.now() >= lookAt;
      if (!isResumed && isForPerson && isOver) return this.over({ outcome: 'expired', reason });
    }
    showStatus('sending');
    return { is: 'next', leg: next === 'repeat' ? this.repeatedLeg() : this.sameLeg() };
  }

  private async pause(waitMs: number, summary: string, leg: Leg): Promise<Reply> {
    await this.inbox.pause(Math.min(waitMs, this.callDeadlineAt - Date.now()), summary);
    await this.putRefusalsOnRecord();
    const early = this.stopped('asked');
    return early === undefined ? { is: 'next', leg } : this.over(early);
  }

  private async over(ending: Ending, consent?: OpenConsent): Promise<Reply> {
    return { is: 'over', ending: await this.close(ending, consent) };
  }

  private async close(ending: Ending, consent?: OpenConsent): Promise<Ending> {
    if (consent !== undefined) this.inbox.settle(consent.status);
    this.inbox.close();
    showOutcome(ending.outcome);
    const by = ending.outcome === 'cancelled' ? this.inbox.cancelled?.by : undefined;
    // A question that cannot go on because its binding is lost: what is not sent is the leg after it.
    if (consent !== undefined && ending.outcome === 'binding_lost') this.leg = this.newLeg({});
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
    // More may come while the last ones are written.
    for (let refusals = this.inbox.takeRefusals(); refusals.length > 0; refusals = this.inbox.takeRefusals()) {
      await recordRefusals({ call: this.call, refusals });
    }
  }

  /** Temporal ends a workflow whose history grows past 50 MB or 51 200 events; long before that a new run takes over. */
  private async continueAsNew(): Promise<Ending> {
    // No question is about to be opened: answers to one that this call does not know will never be to one that it does.
    this.inbox.close();
    await this.putRefusalsOnRecord();
    // The next run would not hear of a cancellation that came meanwhile.
    const early = this.stopped('asked');
    if (early !== undefined) return this.close(early);
    const { leg, progress, sequence, round } = this;
    const answered = carriable(this.answered);
    const inbox = this.inbox.memory();
    return continueAsNew<typeof invocation>(this.call, { leg, progress, sequence, round, answered, inbox });
  }

  private step() {
    // By the clock, so that a run that began again from an earlier point (`workflow reset`) is not taken for the older one.
    this.sequence = Math.max(this.sequence + 1, Date.now());
    return { call: this.call, leg: this.leg.leg, round: this.round, sequence: this.sequence };
  }
}

/** Counts that begin anew when the server has taken a leg. */
const anew = { unsent: 0, misheaded: 0, waits: 0 };
