/**
 * One try at one leg, seen from the workflow: schedule the activity once, and when it fails find out what is known (design §5).
 */

import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { BegunLeg, LegInput } from '../activities/contract.js';
import type { LegReport } from '../domain/call.js';
import { outcomeOfUntaken, queueBudgetMs } from './connection.js';
import type { Inbox } from './inbox.js';
import { legProxy, resolveLeg } from './proxies.js';

const followEveryMs = 10_000;

/** @param callDeadlineAt how long the leg may wait for a worker */
export async function send(input: LegInput, inbox: Inbox, callDeadlineAt: number): Promise<LegReport> {
  const { call, connection } = input;
  const budgetMs = queueBudgetMs(connection, callDeadlineAt - Date.now());
  const { sendLeg } = legProxy(connection?.queue ?? legsQueue(), call.policy.legDeadlineMs, budgetMs);
  // A cancelled call takes back a leg that no worker has begun; one on the wire is left to finish, so that its outcome is known.
  const scope = new CancellationScope();
  const sent = scope.run(() => sendLeg(input));
  const watch = new CancellationScope();
  void watch.run(() => inbox.untilCancelled()).then(() => scope.cancel(), ignoreCancellation);
  try {
    return await sent;
  } catch (error) {
    if (neverStarted(error)) return { outcome: outcomeOfUntaken(Date.now() < callDeadlineAt ? connection : undefined, error) };
    return await resolve({ ...input, ...begunEvidence(error) });
  } finally {
    watch.cancel();
  }
}

/** Of a leg that a run which was cut off has begun: its activity reports to nobody, and may be back at any time. */
export function follow(input: LegInput): Promise<LegReport> {
  return resolve({ ...input, wasBegun: true }, followEveryMs);
}

/** @param everyMs how long it is not looked at, at most; default: until its time is over */
async function resolve(input: LegInput, everyMs = Infinity): Promise<LegReport> {
  for (;;) {
    const resolution = await resolveLeg(input);
    if (resolution.is === 'settled') return resolution.report;
    await sleep(Math.min(resolution.waitMs, everyMs), { summary: 'the leg may still come back' });
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

/** What the activity last said of itself, if anything: a ledger that does not know the leg is then known to have forgotten it. */
function begunEvidence(error: unknown): Pick<LegInput, 'ledgerClock' | 'wasBegun'> {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const said: unknown = cause instanceof TimeoutFailure ? cause.lastHeartbeatDetails : undefined;
  const told: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  const evidence = (said ?? told) as Partial<BegunLeg> | null | undefined;
  return evidence?.ledgerClock === undefined ? {} : { ledgerClock: evidence.ledgerClock, wasBegun: true };
}

function ignoreCancellation(error: unknown): void {
  if (!isCancellation(error)) throw error;
}

/** Workflows run on `<queue>-calls`, legs on `<queue>-legs`. */
function legsQueue(): string {
  return workflowInfo().taskQueue.replace(/-calls$/, '-legs');
}
