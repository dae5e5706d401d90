/** What one round shows to a person, and who may decide it (design §1, §2.3, §6). */

import type { Answer, Method, Sealed } from './call.js';
import type { Binding } from './binding.js';
import type { RoundInput } from './form.js';
import type { ConsentId, InvocationId } from './ids.js';

/** Exactly what is shown. Its digest covers every member, so an answer to anything else is refused. Server words are untrusted. */
export interface ConsentView {
  readonly server: { readonly id: string; readonly title: string; readonly origin: string };
  readonly call: { readonly method: Method; readonly name: string; readonly arguments: unknown };
  /** The tool's own annotations, a claim of the server; absent members are the specification's defaults. */
  readonly effect: {
    readonly readOnly: boolean;
    readonly destructive: boolean;
    readonly idempotent: boolean;
    readonly openWorld: boolean;
  };
  readonly inputs: readonly RoundInput[];
}

export const consentStatuses = ['open', 'answered', 'expired', 'withdrawn'] as const;
export type ConsentStatus = (typeof consentStatuses)[number];

/** An entry of a person's inbox: ids and instants in clear, the view sealed. */
export interface ConsentRecord {
  readonly id: ConsentId;
  readonly tenant: string;
  readonly invocation: InvocationId;
  /** The person who is asked, and the only one who may decide. */
  readonly subject: string;
  readonly server: string;
  readonly method: Method;
  readonly name: string;
  readonly round: number;
  readonly status: ConsentStatus;
  readonly openedAt: number;
  readonly deadlineAt: number;
  readonly closedAt?: number;
  /** When an answer was stored that no workflow had judged by then. */
  readonly answeredAt?: number;
  /** Digest of the original params, which a receipt names beside what was shown. */
  readonly paramsDigest: string;
  readonly viewDigest: string;
  /** What the call's policy allowed when it started, whatever the server's policy says by now; the worker holds the answer to it. */
  readonly maxAnswerBytes?: number;
  /** What the call was bound to; absent in questions from before it was kept, which are checked before their leg alone. */
  readonly bound?: Binding;
  /** Sealed {@link ConsentView}, field `view.<round>`. */
  readonly view: Sealed;
  /** What the person answered to the very same question before the server forgot it: sealed, field `answer.<consent>`. */
  readonly earlier?: { readonly consent: ConsentId; readonly responses: Sealed };
}

export const refusalCodes = [
  'consent_answered',
  'consent_expired',
  'consent_withdrawn',
  'consent_unknown',
  'answer_foreign',
  'answer_mismatch',
] as const;
/** Why an answer does not count. */
export type RefusalCode = (typeof refusalCodes)[number];

export type Verdict =
  | { readonly is: 'accepted'; readonly answerId: string }
  | { readonly is: 'refused'; readonly answerId: string; readonly code: RefusalCode };

/** The round that is open right now, as the workflow knows it. */
export interface OpenRound {
  readonly consent: ConsentId;
  readonly tenant: string;
  readonly subject: string;
  readonly viewDigest: string;
  readonly deadlineAt: number;
}

/**
 * Whether an answer counts (promise 3): for the round it was given to, by the person it was asked of, once, in time.
 *
 * @param open  the round that is open, if one is
 * @param past  consents of this call that are closed already, with how they ended
 * @param nowAt the workflow's clock, epoch milliseconds
 */
export function judgeAnswer(
  answer: Answer,
  open: OpenRound | undefined,
  past: ReadonlyMap<ConsentId, Exclude<ConsentStatus, 'open'>>,
  nowAt: number,
): Verdict {
  const refuse = (code: RefusalCode): Verdict => ({ is: 'refused', answerId: answer.answerId, code });
  const closedAs = past.get(answer.consent);
  if (closedAs !== undefined) return refuse(`consent_${closedAs}`);
  if (open === undefined || open.consent !== answer.consent) return refuse('consent_unknown');
  if (answer.tenant !== open.tenant || answer.actor !== open.subject) return refuse('answer_foreign');
  if (answer.viewDigest !== open.viewDigest) return refuse('answer_mismatch');
  // While no worker was up the deadline passed unnoticed: what was given in time counts (promise 2).
  const givenAt = Math.min(answer.givenAt ?? nowAt, nowAt);
  if (givenAt >= open.deadlineAt) return refuse('consent_expired');
  return { is: 'accepted', answerId: answer.answerId };
}
