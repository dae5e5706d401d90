/**
 * `sendLeg` as Temporal runs it: beats from a timer, and only typed, non-retryable failures leave it (design §5). Cancellation of the
 * activity is obeyed until the leg is begun: a request on the wire is left to finish, so that its outcome is known.
 */

import { ApplicationFailure, Context } from '@temporalio/activity';
import { undecided } from '../domain/judge.js';
import type { LiveConnections } from '../src/mcp/live-connections.js';
import type { BegunLeg, ConnectionActivities, HoldConnection, LegActivities, LegInput } from './contract.js';
import type { SendLeg } from './send-leg.js';

/** So many beats within a heartbeat timeout that a busy worker may miss one or two. */
const beatsPerTimeout = 4;
/** Where there is none, as in a test. */
const defaultTimeoutMs = 3_000;

/** @param onFault told of every error that leaves an activity, by name only: its message may hold contents */
export function legActivities(
  send: SendLeg,
  connections: LiveConnections,
  onFault: (invocation: string, error: unknown) => void,
): LegActivities {
  return {
    async sendLeg(input: LegInput) {
      const context = Context.current();
      let evidence: BegunLeg | undefined;
      // A leg that is not settled here may turn out to have gone well, by the ledger.
      let isOver = false;
      const own = connections.forLeg(input.call);
      const beatMs = (context.info.heartbeatTimeoutMs ?? defaultTimeoutMs) / beatsPerTimeout;
      const onBegun = (ledgerClock: number) => {
        evidence = { ledgerClock };
        own.begin();
        context.heartbeat(evidence);
      };
      try {
        const report = await beating(
          beatMs,
          () => context.heartbeat(evidence),
          () => send.send(input, own, onBegun, () => context.cancellationSignal.aborted),
        );
        isOver = !undecided.has(report.outcome.is);
        return report;
      } catch (error) {
        onFault(input.call.invocation, error);
        throw ApplicationFailure.nonRetryable('the leg could not be settled here', 'LegUnsettled', evidence);
      } finally {
        own.end(isOver);
      }
    },
  };
}

/** Beats within the lease: a worker that is not heard of for so long has lost its connections, whatever it may believe. */
const beatsPerLease = 5;

export function connectionActivities(connections: LiveConnections): ConnectionActivities {
  return {
    async holdConnection({ call, connection: { generation, leaseMs } }: HoldConnection) {
      const context = Context.current();
      const open = () => connections.whileOpen(generation, context.cancellationSignal, call);
      await beating(leaseMs / beatsPerLease, () => context.heartbeat(), open);
    },
  };
}

/** Beats from a timer for as long as the work goes on. */
async function beating<T>(everyMs: number, beat: () => void, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(beat, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
