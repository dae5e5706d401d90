/**
 * Calls that live on one connection, as the workflow sees them (design §4): later legs go to the worker that holds it, and while the call is
 * parked that worker watches it. A worker that is not heard of within the lease is gone, and the connection with it.
 */

import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { ConnectionActivities } from '../activities/contract.js';
import type { BoundCall, BoundConnection, LegOutcome } from '../domain/call.js';

/**
 * Watches the connection from now on, if there is one.
 *
 * @param onLost told once, unless the watch has ended before
 * @returns ends the watch
 */
export function watchConnection(connection: BoundConnection | undefined, call: BoundCall, onLost: () => void): () => void {
  if (connection === undefined) return () => {};
  const { queue, leaseMs } = connection;
  const { holdConnection } = proxyActivities<ConnectionActivities>({
    taskQueue: queue,
    scheduleToStartTimeout: leaseMs,
    heartbeatTimeout: leaseMs,
    // Longer than the call, whose own deadline ends the watch.
    startToCloseTimeout: call.policy.callDeadlineMs + leaseMs,
    // Nobody waits for a watch that has ended.
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    allowEagerDispatch: false,
    // Whatever ends it, another attempt would find another process at best.
    retry: { maximumAttempts: 1 },
    summary: 'connection: watched while the call is parked',
  });
  const { server, tenant, invocation } = call;
  const scope = new CancellationScope();
  let isOver = false;
  const lost = (): void => {
    if (!isOver) onLost();
  };
  void scope.run(() => holdConnection({ server, connection, call: { tenant, invocation } })).then(lost, lost);
  return () => {
    isOver = true;
    scope.cancel();
  };
}

/** How long a leg may wait for the worker that holds its connection. */
export function queueBudgetMs(connection: BoundConnection | undefined, leftMs: number): number {
  return connection === undefined ? leftMs : Math.min(connection.leaseMs, leftMs);
}

/**
 * What a leg that no worker has taken came to: nothing, and it may be tried again; unless it had to go to one worker and that one did not
 * come for it.
 */
export function outcomeOfUntaken(connection: BoundConnection | undefined, error: unknown): LegOutcome {
  const ranOut = error instanceof ActivityFailure && error.cause instanceof TimeoutFailure;
  if (connection !== undefined && ranOut) return { is: 'binding_lost', part: 'connection_lost' };
  return { is: 'never_sent', proof: 'activity_never_started' };
}
