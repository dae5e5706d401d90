/**
 * What follows from one leg's outcome (design §3): ask a person, wait for the server, or end the call. Pure, so that the same history
 * always leads to the same step. Budgets live here and nowhere else.
 */

import { type LegOutcome, notReplicated, type OpenableRound, type ResultRef, type Sealed } from './call.js';
import type { Outcome, Reason, WaitReason } from './outcome.js';
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
  /** Tries of the present leg that provably never reached the server. */
  readonly unsent: number;
  /** Legs since the server last asked that it refused for their headers. */
  readonly misheaded: number;
  /** Waits in a row for somebody to act; each looks again later than the one before. */
  readonly waits: number;
  /** Times the original request was sent afresh because the server had forgotten its state. */
  readonly reasks: number;
  /** The last answer was not an accept: what a person did not agree to is never asked for afresh. */
  readonly isDeclined: boolean;
}

export const noProgress: Progress = {
  asked: 0,
  polls: 0,
  pollsInARow: 0,
  cancels: 0,
  unsent: 0,
  misheaded: 0,
  waits: 0,
  reasks: 0,
  isDeclined: false,
};

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
  | { readonly is: 'poll'; readonly round: OpenableRound; readonly waitMs: number }
  /** The same leg again: nothing of it was ever sent. */
  | { readonly is: 'try_again'; readonly waitMs: number }
  /** A new leg with the same content: the server refused this one before it did anything. */
  | { readonly is: 'repeat' }
  /**
   * Park until somebody has acted.
   *
   * @property lookAgainMs how long until Parley looks by itself; absent when only a person can know
   * @property next what follows
   */
  | { readonly is: 'wait'; readonly for: WaitReason; readonly lookAgainMs?: number; readonly next: 'try_again' | 'repeat' }
  /** The original request afresh, in a new leg without answer and state. */
  | { readonly is: 'start_afresh' };

/** A server that refuses the headers of a fresh definition as well will not take the next ones either. */
const maxMisheaded = 1;
/** A state that expires again while the person only has to confirm is not worth a third question. */
const maxReasks = 2;
const lookAgainInitialMs = 60_000;
const lookAgainMaxMs = 3_600_000;

/** @param outcome of the latest leg */
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
      if (mayStartAfresh(policy, progress)) return { is: 'start_afresh' };
      return over({ outcome: 'state_expired', reason: 'request_state_refused' });
    case 'turned_away':
      if (outcome.why === 'credential') return { is: 'wait', for: 'reauthorization_required', next: 'repeat' };
      if (progress.misheaded < maxMisheaded) return { is: 'repeat' };
      return over({ outcome: 'failed', reason: 'server_error', detail: outcome.detail });
    case 'blocked':
      return blocked(progress, outcome.by);
    case 'never_sent':
      return tryAgain(policy, progress, outcome.proof);
    case 'unknown':
      return over({ outcome: 'indeterminate', reason: 'leg_unknown' });
    case 'asked':
      return outcome.round.view === undefined ? poll(policy, progress, outcome.round) : ask(policy, progress, outcome.round);
  }
  return outcome satisfies never;
}

/** After these the call may go on; whatever else a leg came to ends it. */
export const undecided: ReadonlySet<LegOutcome['is']> = new Set([
  'asked',
  'never_sent',
  'turned_away',
  'blocked',
  'state_expired',
]);

/** How a leg that did nothing goes again: as a new one, or under its own number. */
export function againOf(step: Step): 'repeat' | 'try_again' | undefined {
  if (step.is === 'wait') return step.next;
  return step.is === 'repeat' || step.is === 'try_again' ? step.is : undefined;
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

function mayStartAfresh(policy: Policy, { reasks, isDeclined }: Progress): boolean {
  return policy.onStateExpired === 'reask' && !isDeclined && reasks < maxReasks;
}

function tryAgain(policy: Policy, progress: Progress, proof: string): Step {
  const tries = progress.unsent + 1;
  if (tries >= policy.maxConnectAttempts) {
    // What the last try failed for: the store's replicas are another's to mend than the way to the server.
    return over({ outcome: 'unreachable', reason: proof === notReplicated ? notReplicated : 'connect_attempts_spent' });
  }
  return { is: 'try_again', waitMs: backoffMs(tries, policy.connectBackoffInitialMs, policy.connectBackoffMaxMs) };
}

/** A hold may be lifted without a word; that a credential was renewed, only a person knows. */
function blocked(progress: Progress, by: WaitReason): Step {
  const next = 'try_again';
  if (by === 'reauthorization_required') return { is: 'wait', for: by, next };
  return { is: 'wait', for: by, next, lookAgainMs: backoffMs(progress.waits + 1, lookAgainInitialMs, lookAgainMaxMs) };
}

function capped(reason: Reason): Step {
  return over({ outcome: 'rounds_exceeded', reason });
}

function over(ending: Ending): Step {
  return { is: 'over', ending };
}
