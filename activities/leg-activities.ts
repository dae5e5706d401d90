/**
 * `sendLeg` as Temporal runs it: beats from a timer, and only typed, non-retryable failures leave it (design §5). Cancellation of the
 * activity is not obeyed: a request on the wire is left to finish, so that its outcome is known.
 */

import { ApplicationFailure, Context } from '@temporalio/activity';
import type { BegunLeg, LegActivities, LegInput } from './contract.js';
import type { SendLeg } from './send-leg.js';

/** So many beats within a heartbeat timeout that a busy worker may miss one or two. */
const beatsPerTimeout = 4;
/** Where there is none, as in a test. */
const defaultTimeoutMs = 3_000;

/** @param onFault told of every error that leaves an activity, by name only: its message may hold contents */
export function legActivities(send: SendLeg, onFault: (invocation: string, error: unknown) => void): LegActivities {
  return {
    async sendLeg(input: LegInput) {
      const context = Context.current();
      let evidence: BegunLeg | undefined;
      const beatMs = (context.info.heartbeatTimeoutMs ?? defaultTimeoutMs) / beatsPerTimeout;
      const beat = setInterval(() => context.heartbeat(evidence), beatMs);
      const onBegun = (ledgerClock: number) => {
        evidence = { ledgerClock };
        context.heartbeat(evidence);
      };
      try {
        return await send.send(input, onBegun);
      } catch (error) {
        onFault(input.call.invocation, error);
        throw ApplicationFailure.nonRetryable('the leg could not be settled here', 'LegUnsettled', evidence);
      } finally {
        clearInterval(beat);
      }
    },
  };
}
