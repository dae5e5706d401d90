/**
 * What people and operators say to one invocation while it runs. Handlers only record and judge (synchronously, so that a query sent
 * after a signal sees its verdict); the workflow's loop alone acts on it.
 */

import { CancellationScope, condition, setHandler } from '@temporalio/workflow';
import type { Answer } from '../domain/call.js';
import { judgeAnswer, type ConsentStatus, type OpenRound, type Verdict } from '../domain/consent.js';
import type { ConsentId } from '../domain/ids.js';
import { answerSignal, cancelSignal, refreshSignal, resumeSignal, verdictQuery, type CancelRequest } from './messages.js';

/** What a run hands to the next one of the same call. */
export interface InboxMemory {
  readonly verdicts: readonly (readonly [answerId: string, Verdict])[];
  readonly past: readonly (readonly [ConsentId, Exclude<ConsentStatus, 'open'>])[];
}

/** Whoever repeats a POST asks for its verdict within minutes. */
const maxKeptVerdicts = 200;

export class Inbox {
  private readonly verdicts: Map<string, Verdict>;
  private readonly past: Map<ConsentId, Exclude<ConsentStatus, 'open'>>;
  private refusals: { answer: Answer; verdict: Verdict }[] = [];
  /**
   * Answers to, and withdrawals of, a consent that this run has not opened yet. A worker that dies after it has shown a consent and before its task is
   * recorded leaves one that people can answer: the task then runs anew with the answer already in it.
   */
  private early: (() => void)[] = [];
  private isClosed = false;
  private open: OpenRound | undefined;
  private accepted: Answer | undefined;
  private cancelRequest: CancelRequest | undefined;
  private isResumed = false;
  private isRefreshWanted = false;
  private connectionLost = false;

  constructor(memory: InboxMemory = { verdicts: [], past: [] }) {
    this.verdicts = new Map(memory.verdicts);
    this.past = new Map(memory.past);
  }

  /** Between rounds, when nothing is open and all that was heard has been dealt with. */
  memory(): InboxMemory {
    return { verdicts: [...this.verdicts].slice(-maxKeptVerdicts), past: [...this.past] };
  }

  /** Sets the handlers: call it before the workflow's first await. */
  listen(): void {
    setHandler(answerSignal, (answer) => this.take(answer));
    setHandler(cancelSignal, (request) => this.cancel(request));
    setHandler(resumeSignal, () => void (this.isResumed = true));
    setHandler(refreshSignal, () => void (this.isRefreshWanted = true));
    setHandler(verdictQuery, (answerId) => this.verdicts.get(answerId) ?? null);
    // A cancellation made in Temporal itself counts as the operator's.
    CancellationScope.current().cancelRequested.catch(() => this.cancel({ by: 'operator' }));
  }

  get cancelled(): CancelRequest | undefined {
    return this.cancelRequest;
  }

  get isConnectionLost(): boolean {
    return this.connectionLost;
  }

  /** The process that asked is gone, so that no answer can be sent any more. */
  loseConnection(): void {
    this.connectionLost = true;
    this.settle('withdrawn');
  }

  /** From now on answers to this round count. */
  expect(round: OpenRound): void {
    this.open = round;
    this.accepted = undefined;
    for (const hear of this.early.splice(0)) hear();
  }

  /** Nothing will be asked any more: answers to consents that never were are refused. */
  close(): void {
    this.isClosed = true;
    for (const hear of this.early.splice(0)) hear();
  }

  /** No further answer to the open round counts. */
  settle(status: Exclude<ConsentStatus, 'open'>): void {
    if (this.open === undefined) return;
    this.past.set(this.open.consent, status);
    this.open = undefined;
  }

  /** Waits for an answer that counts, what ends the call, a refresh, or refusals to put on record; false when the time is up first. */
  async news(timeoutMs: number): Promise<boolean> {
    const heard = () => this.accepted !== undefined || this.isDisturbed || this.refusals.length > 0;
    return condition(heard, Math.max(timeoutMs, 0), { summary: 'waiting for a person' });
  }

  /** A resume from before this counts no more: it was for an earlier wait. */
  forgetResume(): void {
    this.isResumed = false;
  }

  /** Waits until the call is resumed; false when something else came first, or the time is up. */
  async resumed(timeoutMs: number): Promise<boolean> {
    const heard = () => this.isResumed || this.isDisturbed || this.refusals.length > 0;
    await condition(heard, Math.max(timeoutMs, 1), { summary: 'waiting for somebody to act' });
    return this.isResumed;
  }

  takeRefresh(): boolean {
    const wanted = this.isRefreshWanted;
    this.isRefreshWanted = false;
    return wanted;
  }

  /** The answer that counts, if it is here. */
  get answer(): Answer | undefined {
    return this.accepted;
  }

  takeRefusals(): { answer: Answer; verdict: Verdict }[] {
    const taken = this.refusals;
    this.refusals = [];
    return taken;
  }

  /** Waits, unless the call is called off first. */
  async pause(waitMs: number, summary: string): Promise<void> {
    await condition(() => this.isCalledOff, Math.max(waitMs, 1), { summary });
  }

  /** Resolves at a cancellation; never otherwise. */
  async untilCancelled(): Promise<void> {
    await condition(() => this.cancelRequest !== undefined);
  }

  private get isCalledOff(): boolean {
    return this.cancelRequest !== undefined || this.connectionLost;
  }

  private get isDisturbed(): boolean {
    return this.isCalledOff || this.isRefreshWanted;
  }

  private isKnown(consent: ConsentId): boolean {
    return this.open?.consent === consent || this.past.has(consent);
  }

  private take(answer: Answer): void {
    if (this.isClosed || this.isKnown(answer.consent)) this.judge(answer);
    else this.early.push(() => this.take(answer));
  }

  private judge(answer: Answer): void {
    if (this.verdicts.has(answer.answerId)) return;
    const verdict = judgeAnswer(answer, this.open, this.past, Date.now());
    this.verdicts.set(answer.answerId, verdict);
    if (verdict.is === 'refused') this.refusals.push({ answer, verdict });
    else {
      this.accepted = answer;
      this.settle('answered');
    }
  }

  private cancel(request: CancelRequest): void {
    const { consent } = request;
    if (consent !== undefined && consent !== this.open?.consent) {
      if (!this.isClosed && !this.isKnown(consent)) this.early.push(() => this.cancel(request));
      return;
    }
    this.cancelRequest ??= request;
    this.settle('withdrawn');
  }
}
