/** What one run of a call hands to the next, when its history has grown long (continue-as-new). */

import type { LegInput } from '../activities/contract.js';
import type { Answer } from '../domain/call.js';
import type { Progress } from '../domain/judge.js';
import type { InboxMemory } from './inbox.js';

export interface Leg extends Omit<LegInput, 'call'> {
  /** A run that was cut off has begun it: it is waited for, and never sent. */
  readonly isFollowed?: true;
}

/** Members may be added as optional, never renamed. */
export interface Carried {
  readonly leg: Leg;
  readonly progress: Progress;
  readonly sequence: number;
  readonly round: number;
  readonly answered: readonly Answer[];
  readonly inbox: InboxMemory;
}

/** Call and leg alone may be near Temporal's 2 MB; an earlier answer that is left behind is only not offered again. */
const maxCarriedAnswersLength = 32 * 1024;

/** @returns the latest answers that fit, in their order */
export function carriable(answers: readonly Answer[]): Answer[] {
  const kept: Answer[] = [];
  let length = 0;
  for (const answer of answers.toReversed()) {
    length += answer.responses.length + answer.receipt.length;
    if (length > maxCarriedAnswersLength) break;
    kept.unshift(answer);
  }
  return kept;
}
