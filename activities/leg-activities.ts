/**
 * `sendLeg` as Temporal runs it: beats from a timer, and only typed, non-retryable failures leave it (design §5). Cancellation of the
 * activity is not obeyed: a request on the wire is left to finish, so that its outcome is known.
 */

import { ApplicationFailure, Context } from '@temporalio/activity';
import type { LegActivities, LegInput } from './contract.js';
import type { SendLeg } from './send-leg.js';

// Several beats within the shortest heartbeat timeout, three seconds.
const beatMs = 700;

/** @param onFault told of every error that leaves an activity, by name only: its message may hold contents */
export function legActivities(send: SendLeg, onFault: (invocation: string, error: unknown) => void): LegActivities {
  return {
    async sendLeg(input: LegInput) {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), beatMs);
      try {
        return await send.send(input);
      } catch (error) {
        onFault(input.call.invocation, error);
        throw ApplicationFailure.nonRetryable('the leg could not be settled here', 'LegUnsettled');
      } finally {
        clearInterval(beat);
      }
    },
  };
}
