/**
 * One leg, seen from the workflow: schedule the activity once, and when it fails find out what is known (design §5). Only a leg that
 * provably never reached the server is tried again.
 */

import {
  ActivityFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { LegInput } from '../activities/contract.js';
import type { LegReport } from '../domain/call.js';
import { backoffMs } from '../domain/policy.js';
import type { Inbox } from './inbox.js';
import { legProxy, resolveLeg } from './proxies.js';

/** @returns a report whose outcome is `never_sent` only when the attempts are spent, the time is up, or the call was cancelled */
export async function send(leg: Omit<LegInput, 'try'>, inbox: Inbox, callDeadlineAt: number): Promise<LegReport> {
  const { policy } = leg.call;
  for (let attempt = 1; ; attempt++) {
    const report = await sendOnce({ ...leg, try: attempt }, inbox, callDeadlineAt);
    if (report.outcome.is !== 'never_sent' || attempt >= policy.maxConnectAttempts) return report;
    const waitMs = backoffMs(attempt, policy.connectBackoffInitialMs, policy.connectBackoffMaxMs);
    const leftMs = callDeadlineAt - Date.now();
    if (inbox.cancelled || leftMs <= 0) return report;
    await inbox.pause(Math.min(waitMs, leftMs), 'waiting to reach the server');
    if (inbox.cancelled || Date.now() >= callDeadlineAt) return report;
  }
}

async function sendOnce(input: LegInput, inbox: Inbox, callDeadlineAt: number): Promise<LegReport> {
  const { sendLeg } = legProxy(legsQueue(), input.call.policy.legDeadlineMs, callDeadlineAt - Date.now());
  // A cancelled call takes back a leg that no worker has begun; one on the wire is left to finish, so that its outcome is known.
  const scope = new CancellationScope();
  const sent = scope.run(() => sendLeg(input));
  const watch = new CancellationScope();
  void watch.run(() => inbox.untilCancelled()).then(() => scope.cancel(), ignoreCancellation);
  try {
    return await sent;
  } catch (error) {
    if (neverStarted(error)) return { outcome: { is: 'never_sent', proof: 'activity_never_started' } };
    return await resolve(input);
  } finally {
    watch.cancel();
  }
}

async function resolve(input: LegInput): Promise<LegReport> {
  for (;;) {
    const resolution = await resolveLeg(input);
    if (resolution.is === 'settled') return resolution.report;
    await sleep(resolution.waitMs, { summary: 'the leg may still come back' });
  }
}

/** Exact, because one record of the server both starts the activity and times out or cancels its waiting. */
function neverStarted(error: unknown): boolean {
  if (error instanceof CancelledFailure) return true;
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof TimeoutFailure) return cause.timeoutType === 'SCHEDULE_TO_START';
  return cause instanceof CancelledFailure && cause.details[0] === 'ACTIVITY_ID_NOT_STARTED';
}

function ignoreCancellation(error: unknown): void {
  if (!isCancellation(error)) throw error;
}

/** Workflows run on `<queue>-calls`, legs on `<queue>-legs`. */
function legsQueue(): string {
  return workflowInfo().taskQueue.replace(/-calls$/, '-legs');
}
