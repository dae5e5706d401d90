/** Every activity's timeouts and retries, each with its reason (design §5). */

import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { CallActivities, LegActivities } from '../activities/contract.js';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/**
 * The one activity that touches an MCP server.
 *
 * @param taskQueue  the legs queue: bounded slots, apart from the small activities
 * @param legDeadlineMs the leg's own budget; the activity itself enforces it
 * @param queueBudgetMs how long it may wait for a worker; a timeout there proves that it never started
 */
export function legProxy(taskQueue: string, legDeadlineMs: number, queueBudgetMs: number): LegActivities {
  return proxyActivities<LegActivities>({
    taskQueue,
    // The five minutes are for storing a reply that is already here while the store is away.
    startToCloseTimeout: legDeadlineMs + 5 * minuteMs,
    scheduleToStartTimeout: Math.max(queueBudgetMs, 1),
    // No schedule-to-close: it would blur "never started" with "may have run".
    // Long enough for several beats of a busy worker, short enough that a killed one is noticed within the leg's own budget.
    heartbeatTimeout: Math.min(Math.max(legDeadlineMs, 3 * secondMs), 30 * secondMs),
    // Not the default: it reports "cancelled" while the request is still on the wire.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    // An eager task lost with the reply that carries it would look started and never run.
    allowEagerDispatch: false,
    retry: {
      maximumAttempts: 1,
      // Pause and unpause ignore maximumAttempts; they respect these.
      nonRetryableErrorTypes: [
        'TemporalTimeout:StartToClose',
        'TemporalTimeout:Heartbeat',
        'WorkerShutdown',
        'ActivityPause',
        'ActivityReset',
        'CancelledFailure',
      ],
    },
    summary: 'leg: one MCP request',
  });
}

// A store that is away must delay the call and never fail it: no limit on attempts, a quick first retry, then patience.
const untilTheStoreIsBack = { initialInterval: 200, backoffCoefficient: 2, maximumInterval: 15 * secondMs };

/** Idempotent and short: local, so that a step costs no extra round trip through the server. */
export const { openRound, refreshRound, closeRound, awaitServer, awaitResume, closeInvocation, recordRefusals } =
  proxyLocalActivities<CallActivities>({
    startToCloseTimeout: 20 * secondMs,
    localRetryThreshold: minuteMs,
    retry: untilTheStoreIsBack,
  });

/** Rare, and it may outlive a workflow task: remote. */
export const { resolveLeg } = proxyActivities<Pick<CallActivities, 'resolveLeg'>>({
  startToCloseTimeout: 20 * secondMs,
  retry: untilTheStoreIsBack,
  summary: 'leg: read how it ended',
});
