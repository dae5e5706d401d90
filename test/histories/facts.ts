/** What a recorded history shows of the workflow, and what all of them together must show. */

import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Payload } from '@temporalio/common';
import type { CallActivities, ConnectionActivities, LegActivities, LegInput, Resolution } from '../../activities/contract.js';
import type { LegOutcome, LegReport } from '../../domain/call.js';
import type { Ending, Step } from '../../domain/judge.js';
import { reasons } from '../../domain/reasons.js';
import { answerSignal, cancelSignal, refreshSignal, resumeSignal } from '../../workflows/messages.js';
import { codec } from './keys.js';

type History = ReturnType<typeof historyFromJSON>;
type HistoryEvent = NonNullable<History['events']>[number];

const stepKinds: Readonly<Record<Step['is'], true>> = {
  over: true,
  ask: true,
  poll: true,
  try_again: true,
  repeat: true,
  wait: true,
  start_afresh: true,
};
const legKinds: Readonly<Record<LegOutcome['is'], true>> = {
  completed: true,
  asked: true,
  failed: true,
  refused: true,
  binding_lost: true,
  state_expired: true,
  turned_away: true,
  blocked: true,
  never_sent: true,
  unknown: true,
};
const activityNames: Readonly<Record<keyof (CallActivities & LegActivities & ConnectionActivities), true>> = {
  sendLeg: true,
  resolveLeg: true,
  holdConnection: true,
  openRound: true,
  refreshRound: true,
  closeRound: true,
  awaitServer: true,
  awaitResume: true,
  closeInvocation: true,
  recordRefusals: true,
};
const resolutionKinds: Readonly<Record<Resolution['is'], true>> = { settled: true, running: true };

/** Reasons of which the workflow does nothing of its own: it hands on what a leg has told, as it does for the reason named. */
export const toldByLegs: Readonly<Partial<Record<keyof typeof reasons, keyof typeof reasons>>> = {
  server_changed: 'tool_definition_changed',
  params_changed: 'tool_definition_changed',
  answer_altered: 'tool_definition_changed',
  answer_already_used: 'tool_definition_changed',
  audit_unavailable: 'tool_unknown',
  state_foreign: 'tool_unknown',
};
/** Reasons of calls that have no workflow which could have ended them. */
const withoutWorkflow: readonly (keyof typeof reasons)[] = ['terminated', 'never_started'];

/** What at least one recorded history must show. */
export async function expectedFacts(): Promise<string[]> {
  const ofWorkflow = Object.entries(reasons).filter(
    ([reason]) => !(reason in toldByLegs) && !withoutWorkflow.some((each) => each === reason),
  );
  return [
    ...ofWorkflow.map(([reason, { outcome }]) => `ending ${outcome} ${reason}`),
    'ending refused by the gate',
    ...Object.keys(stepKinds).map((kind) => `step ${kind}`),
    ...Object.keys(legKinds).map((kind) => `leg ${kind}`),
    ...Object.keys(activityNames).map((name) => `activity ${name}`),
    ...Object.keys(resolutionKinds).map((kind) => `resolution ${kind}`),
    ...[answerSignal, cancelSignal, refreshSignal, resumeSignal].map(({ name }) => `signal ${name}`),
    'cancelled in Temporal',
    'sendLeg timed out: schedule to start',
    'sendLeg timed out: heartbeat',
    'sendLeg cancelled before it began',
    'holdConnection timed out: heartbeat',
    'run continued as new',
    'run taken over',
    'run begun again after a reset',
    'leg followed',
    'leg followed in vain',
    ...(await patchIds()).map((id) => `patch ${id}`),
  ];
}

/** What the workflow says `patched()` of: an id that is no literal is one that no history shows. */
async function patchIds(): Promise<string[]> {
  const folder = resolve(import.meta.dirname, '../../workflows');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.ts'));
  const sources = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  return sources.flatMap((source) => [...source.matchAll(/\bpatched\(\s*'?([^')]+)/g)].map(([, id]) => id!));
}

/** @param json as a recording holds it */
export async function factsOf(json: unknown): Promise<ReadonlySet<string>> {
  const reading = new Reading();
  for (const event of historyFromJSON(json).events ?? []) await reading.take(event);
  return reading.facts;
}

const timeoutTypes: Readonly<Record<number, string>> = { 1: 'start to close', 2: 'schedule to start', 4: 'heartbeat' };

/** Goes through one history, and remembers what the latest leg came to. */
class Reading {
  readonly facts = new Set<string>();
  private readonly activities = new Map<string, string>();
  private last: LegOutcome | undefined;
  /** Legs that this run has sent itself. */
  private readonly sent = new Set<number>();
  private isFollowed = false;

  async take(event: HistoryEvent): Promise<void> {
    const started = event.workflowExecutionStartedEventAttributes;
    if (started?.continuedExecutionRunId) this.facts.add('run taken over');
    const signalled = event.workflowExecutionSignaledEventAttributes;
    if (signalled) this.facts.add(`signal ${signalled.signalName}`);
    if (event.workflowExecutionCancelRequestedEventAttributes) this.facts.add('cancelled in Temporal');
    if (event.workflowExecutionContinuedAsNewEventAttributes) this.facts.add('run continued as new');
    const completed = event.workflowExecutionCompletedEventAttributes;
    if (completed) this.end(await decoded<Ending>(completed.result?.payloads));
    if (event.workflowTaskFailedEventAttributes?.baseRunId) this.facts.add('run begun again after a reset');
    await this.takeMarker(event);
    await this.takeRemote(event);
  }

  private end({ outcome, reason }: Ending): void {
    this.facts.add('step over');
    this.facts.add(reason in reasons ? `ending ${outcome} ${reason}` : `ending ${outcome} by the gate`);
  }

  private async takeMarker({ markerRecordedEventAttributes: marker }: HistoryEvent): Promise<void> {
    const payloads = (key: string) => marker?.details?.[key]?.payloads;
    if (marker?.markerName === 'core_patch')
      this.facts.add(`patch ${(await decoded<{ id: string }>(payloads('patch-data'))).id}`);
    if (marker?.markerName !== 'core_local_activity') return;
    this.takeLocal((await decoded<{ activity_type: string }>(payloads('data'))).activity_type);
  }

  private takeLocal(name: string): void {
    this.facts.add(`activity ${name}`);
    if (name === 'openRound' && this.isFollowed && this.last?.is !== 'asked') this.facts.add('leg followed in vain');
    const step = { openRound: 'ask', awaitServer: 'poll', awaitResume: 'wait' }[name];
    if (step !== undefined) this.facts.add(`step ${step}`);
  }

  private async takeRemote(event: HistoryEvent): Promise<void> {
    const { activityTaskScheduledEventAttributes: scheduled, activityTaskCompletedEventAttributes: completed } = event;
    if (scheduled) {
      const name = scheduled.activityType?.name ?? '';
      this.activities.set(String(event.eventId), name);
      this.facts.add(`activity ${name}`);
      if (name === 'sendLeg') this.send(await decoded<LegInput>(scheduled.input?.payloads));
      if (name === 'resolveLeg') this.follow(await decoded<LegInput>(scheduled.input?.payloads));
    }
    if (completed) {
      const name = this.activities.get(String(completed.scheduledEventId));
      if (name === 'sendLeg') this.report(await decoded<LegReport>(completed.result?.payloads));
      if (name === 'resolveLeg') this.resolve(await decoded<Resolution>(completed.result?.payloads));
    }
    this.takeFailure(event);
  }

  private takeFailure({
    activityTaskTimedOutEventAttributes: timedOut,
    activityTaskCanceledEventAttributes: canceled,
  }: HistoryEvent): void {
    if (timedOut) {
      const name = this.activities.get(String(timedOut.scheduledEventId));
      const type = timeoutTypes[Number(timedOut.failure?.timeoutFailureInfo?.timeoutType)] ?? 'otherwise';
      this.facts.add(`${name} timed out: ${type}`);
      if (name === 'sendLeg' && type === 'schedule to start') this.last = { is: 'never_sent', proof: '' };
    }
    // A server records no start of an activity that it cancels while nobody has taken it.
    if (canceled && Number(canceled.startedEventId ?? 0) === 0)
      this.facts.add(`${this.activities.get(String(canceled.scheduledEventId))} cancelled before it began`);
  }

  /** A leg follows: what came before tells by which step. */
  private send(input: LegInput): void {
    if (this.last?.is === 'never_sent' && input.try > 1) this.facts.add('step try_again');
    if (this.last?.is === 'turned_away' && this.last.why === 'headers') this.facts.add('step repeat');
    if (this.last?.is === 'state_expired') this.facts.add('step start_afresh');
    this.sent.add(input.leg);
    this.isFollowed = false;
  }

  private follow({ leg }: LegInput): void {
    this.isFollowed = !this.sent.has(leg);
    if (this.isFollowed) this.facts.add('leg followed');
  }

  private report({ outcome }: LegReport): void {
    this.last = outcome;
    this.facts.add(`leg ${outcome.is}`);
  }

  private resolve(resolution: Resolution): void {
    this.facts.add(`resolution ${resolution.is}`);
    if (resolution.is === 'settled') this.report(resolution.report);
  }
}

async function decoded<T>(payloads: readonly Payload[] | null | undefined): Promise<T> {
  const [payload] = await (await codec()).decode([...(payloads ?? [])]);
  return JSON.parse(Buffer.from(payload?.data ?? []).toString('utf8')) as T;
}
