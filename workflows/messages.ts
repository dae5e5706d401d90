/** What the outside may say to an invocation and ask of it. The names are pinned: parked calls live longer than a release. */

import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { Answer } from '../domain/call.js';
import type { Verdict } from '../domain/consent.js';
import type { ConsentId } from '../domain/ids.js';

export const invocationWorkflow = 'invocation';

/** Idempotent by `answerId`: the first answer that counts wins, a repeat finds its own verdict. */
export const answerSignal = defineSignal<[Answer]>('answer');

export interface CancelRequest {
  /** Subject of the token that asked, or `operator` for a cancellation made in Temporal. */
  readonly by: string;
  /** Only while this consent is open: an operator takes back a question, not whatever the call does by then. */
  readonly consent?: ConsentId;
}
export const cancelSignal = defineSignal<[CancelRequest]>('cancel');

/** Somebody has acted on what the call waits for (`WaitReason`): it tries again. Heard at any other time it changes nothing. */
export const resumeSignal = defineSignal('resume');

/** What the call shows, or what it is bound to, may be lost: it publishes its round anew, or ends if its binding is lost. */
export const refreshSignal = defineSignal('refresh');

/** The verdict on one answer id, or null while it is unknown to the call. Temporal orders it after every earlier signal. */
export const verdictQuery = defineQuery<Verdict | null, [answerId: string]>('verdict');

/** Search attributes that a start sets and the workflow keeps up to date. */
export { attributes } from './visibility.js';
