/**
 * What follows from one leg's outcome (design §3): ask a person, wait for the server, or end the call. Pure, so that the same history
 * always leads to the same step. Budgets live here and nowhere else.
 */

import type { LegOutcome, OpenableRound, ResultRef, Sealed } from './call.js';
import type { Outcome, Reason } from './outcome.js';
import { backoffMs, type Policy } from './policy.js';

/** What the call has used up so far. */
export interface Progress {
  /** Rounds in which a person was asked. */
  readonly asked: number;
  /** State-only rounds, all of them. */
  readonly polls: number;
  /** State-only rounds since a person was last asked; back-off starts anew after each answer. */
  readonly pollsInARow: number;
  /** Rounds whose every response was `cancel`. */
  readonly cancels: number;
}

export const noProgress: Progress = { asked: 0, polls: 0, pollsInARow: 0, cancels: 0 };

/** How an invocation ended, without content: what the workflow returns. */
export interface Ending {
  readonly outcome: Outcome;
  readonly reason: Reason;
  readonly result?: ResultRef;
  readonly isError?: boolean;
  /** Sealed detail of a failure, field `problem`. */
  readonly detail?: Sealed;
  /** The offending input request and place in it, when the gate refused a round. */
  readonly key?: string;
  readonly path?: string;
}

export type Step =
  | { readonly is: 'over'; readonly ending: Ending }
  | { readonly is: 'ask'; readonly round: OpenableRound }
  | { readonly is: 'poll'; readonly round: OpenableRound; readonly waitMs: number };

/** @param outcome of the latest leg; a `never_sent` that comes here has spent its attempts */
export function judge(policy: Policy, progress: Progress, outcome: LegOutcome): Step {
  switch (outcome.is) {
    case 'completed':
      return over({
        outcome: 'completed',
        reason: 'complete_result',
        result: outcome.result,
        isError: outcome.isError,
      });
    case 'failed':
      return over({ outcome: 'failed', reason: outcome.reason, detail: outcome.detail });
    case 'refused': {
      const { is: _, ...where } = outcome;
      return over({ outcome: 'refused', ...where });
    }
    case 'binding_lost':
      return over({ outcome: 'binding_lost', reason: outcome.part });
    case 'state_expired':
      return over({ outcome: 'state_expired', reason: 'request_state_refused' });
    case 'never_sent':
      return over({ outcome: 'unreachable', reason: 'connect_attempts_spent' });
    case 'unknown':
      return over({ outcome: 'indeterminate', reason: 'leg_unknown' });
    case 'asked':
      return outcome.round.view === undefined ? poll(policy, progress, outcome.round) : ask(policy, progress, outcome.round);
  }
  return outcome satisfies never;
}

function ask(policy: Policy, progress: Progress, round: OpenableRound): Step {
  if (progress.cancels >= policy.maxCancels) return capped('cancel_cap');
  if (progress.asked >= policy.maxRounds) return capped('round_cap');
  return { is: 'ask', round };
}

function poll(policy: Policy, progress: Progress, round: OpenableRound): Step {
  if (progress.polls >= policy.maxPolls) return capped('poll_cap');
  const waitMs = backoffMs(progress.pollsInARow + 1, policy.pollInitialMs, policy.pollMaxMs);
  return { is: 'poll', round, waitMs };
}

function capped(reason: Reason): Step {
  return over({ outcome: 'rounds_exceeded', reason });
}

function over(ending: Ending): Step {
  return { is: 'over', ending };
}
