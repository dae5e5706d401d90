/**
 * One invocation as it is bound at its start (design §4), and what is known of one of its legs. These shapes travel through Temporal
 * and live in its histories: members may be added as optional, never renamed.
 */

import type { ConsentId, InvocationId } from './ids.js';
import type { BindingPart, Reason, WaitReason } from './outcome.js';
import type { Allowances, Policy } from './policy.js';

/** Ciphertext under the sealing key ring; only the API and the worker can open it, the codec server cannot (design §7). */
export type Sealed = string & { readonly __sealed: true };

export const methods = ['tools/call', 'prompts/get', 'resources/read'] as const;
export type Method = (typeof methods)[number];

export interface BoundCall {
  readonly invocation: InvocationId;
  readonly tenant: string;
  /** On whose behalf the call runs, and who is asked. */
  readonly subject: string;
  /** The authenticated principal that started it. */
  readonly requester: string;
  readonly server: string;
  /** Digest of the registration: id, transport, URL or command line, references to secrets. */
  readonly serverDigest: string;
  readonly method: Method;
  /** Tool or prompt name, or resource URI. */
  readonly name: string;
  /** The original params, sealed as field `params`. */
  readonly params: Sealed;
  /** RFC 8785 digest of the original params. */
  readonly paramsDigest: string;
  readonly capabilities: Capabilities;
  readonly policy: Policy;
  readonly policyDigest: string;
  readonly ledgerEpoch: string;
  /** What the ledger's clock showed at the start. */
  readonly ledgerClock?: number;
  readonly startedAt: number;
}

/** MCP client capabilities as declared in `_meta` on every leg. `elicitation: {}` would mean form only; Parley is explicit. */
export interface Capabilities {
  readonly elicitation?: { readonly form?: Record<string, never>; readonly url?: Record<string, never> };
  readonly sampling?: Record<string, never>;
  readonly roots?: Record<string, never>;
}

/**
 * What a call declares: what its server's policy allows, less what its caller says that nobody is there to answer. Bound at the start, so that every leg says the same
 * and the gate measures every round by what the server was told.
 *
 * @see design §4
 */
export function capabilitiesOf(allow: Allowances): Capabilities {
  const { form = true, url } = allow;
  return {
    ...((form || url) && { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } }),
    ...(allow.sampling && { sampling: {} }),
    ...(allow.roots && { roots: {} }),
  };
}

/** A question that passed the gate, sealed for storage. Leg n opens round n. */
export interface OpenableRound {
  readonly number: number;
  /** Sealed `ConsentView`, field `view.<leg>`; absent in a round that asks no person. */
  readonly view?: Sealed;
  /** Digest of exactly what is shown; an answer names it. */
  readonly viewDigest?: string;
  /** Sealed list of the keys under which the server wants roots, field `roots.<leg>`; absent when it wants none. */
  readonly roots?: Sealed;
  /** Sealed requestState, field `state.<leg>`; absent stays absent. */
  readonly state?: Sealed;
  /** Keyed digest of requestState, for the audit record. */
  readonly stateDigest?: string;
}

/** Where a result is: inline in the history when small, otherwise in the store under the leg's number (design §7). */
export type ResultRef =
  | { readonly in: 'history'; readonly sealed: Sealed; readonly bytes: number }
  | { readonly in: 'store'; readonly leg: number; readonly bytes: number };

/**
 * What is known of one leg. Only a leg that provably did nothing is followed by another with the same content; `unknown` is final for
 * Parley (design §5).
 */
export type LegOutcome =
  | { readonly is: 'completed'; readonly result: ResultRef; readonly isError: boolean }
  | { readonly is: 'asked'; readonly round: OpenableRound }
  | { readonly is: 'failed'; readonly reason: Reason; readonly detail: Sealed }
  | { readonly is: 'refused'; readonly reason: Reason; readonly key?: string; readonly path?: string }
  | { readonly is: 'binding_lost'; readonly part: BindingPart }
  | { readonly is: 'state_expired' }
  /** The server refused the request before it executed anything; a new leg may carry the same content. */
  | { readonly is: 'turned_away'; readonly why: 'credential' | 'headers'; readonly detail: Sealed }
  /** Somebody has to act before the leg can be sent. Nothing was. */
  | { readonly is: 'blocked'; readonly by: WaitReason }
  | { readonly is: 'never_sent'; readonly proof: string }
  | { readonly is: 'unknown'; readonly reason: string };

/** Proof that a leg was not sent: too few replicas of the store had confirmed that it was begun. Also why its call ends, if that goes on. */
export const notReplicated = 'ledger_not_replicated';

/** Why a leg failed, in the server's words; sealed as field `problem`, shown only to those who may see the result. */
export interface FailureDetail {
  readonly message: string;
  /** JSON-RPC error code, when the server answered with one. */
  readonly rpcCode?: number;
  readonly httpStatus?: number;
  /** Client capabilities that the server says it needs, such as `elicitation.url`, when it refused the call for lack of them. */
  readonly requiredCapabilities?: readonly string[];
  readonly data?: unknown;
  /** A complete result that does not fit the tool's own output schema: the tool ran. */
  readonly result?: unknown;
}

/** A live connection, and the worker that holds it: where every leg after the first must go. */
export interface BoundConnection {
  /** Task queue that this worker alone polls. */
  readonly queue: string;
  /** Random, of one process of the server: another process is another generation. */
  readonly generation: string;
  /** A worker that is not heard of for so long is gone, and the connection with it. */
  readonly leaseMs: number;
}

/** What `sendLeg` reports. Tool digest and connection are bound by the first leg that the server took, and compared on every later one. */
export interface LegReport {
  readonly outcome: LegOutcome;
  readonly toolDigest?: string;
  /** What the ledger's clock showed when the leg was begun. */
  readonly ledgerClock?: number;
  /** Of a server that is spoken to over a live connection. */
  readonly connection?: BoundConnection;
}

export const actions = ['accept', 'decline', 'cancel'] as const;
/** Answers a person can give; a closed enumeration (MCP elicitation). */
export type Action = (typeof actions)[number];

/** One person's answer to a whole round as it is signalled: the decision in clear, its content sealed as field `answer.<consent>`. */
export interface Answer {
  readonly answerId: string;
  readonly consent: ConsentId;
  /** Digest of the view that was answered. */
  readonly viewDigest: string;
  readonly actor: string;
  readonly tenant: string;
  /** `cancel` when every response of the round is a cancel: Parley then counts it against the policy's cancels. */
  readonly decision: Action | 'mixed';
  readonly responses: Sealed;
  /** When the API took it, epoch milliseconds: the workflow may be told much later, when a worker comes back. */
  readonly givenAt?: number;
  /** Keyed digest of the responses; two answers under one id must agree. */
  readonly responsesDigest: string;
  /** Signed receipt (JWS compact). */
  readonly receipt: string;
}
