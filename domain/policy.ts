/**
 * What a server's owner allows a call to do and to cost (design §3, §6). Durations are milliseconds, sizes are bytes of UTF-8 JSON.
 * A caller may only narrow it, see {@link narrow}.
 */

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const dayMs = 24 * 60 * minuteMs;

/** No policy allows a longer call; what is stored of an open call outlives it. */
export const maxCallDeadlineMs = 365 * dayMs;
/** One leg, whatever a policy says. */
export const maxLegDeadlineMs = 60 * minuteMs;

/** Bounds on what one input_required result may contain; past any of them the whole round is refused, nothing is cut short. */
export interface GateCaps {
  readonly maxRequests: number;
  readonly maxKeyLength: number;
  /** Objects and arrays within each other, in the params of one input request; absent in calls from before it existed: 8. */
  readonly maxDepth?: number;
  readonly maxFields: number;
  readonly maxOptions: number;
  readonly maxMessageBytes: number;
  readonly maxUrlBytes: number;
  readonly maxLabelBytes: number;
  readonly maxStateBytes: number;
  /** Of all input requests together, in Parley's own form of them. */
  readonly maxRoundBytes: number;
}

/** What a server may ask for beside forms. A call declares exactly this, and whatever else it is asked is refused. */
export interface Allowances {
  /** Asking a person to fill in a form; absent: yes. A call that nobody is there to answer may be told no. */
  readonly form?: boolean;
  /** Asking a person to open a URL (elicitation in URL mode). */
  readonly url: boolean;
  /** Asking a person for a model's message (`sampling/createMessage`). */
  readonly sampling: boolean;
  /** Asking for the roots (`roots/list`), which the policy itself answers. */
  readonly roots: boolean;
}

/** A place that a server is told it may work in (MCP, `roots/list`). */
export interface Root {
  /** A `file://` URI. */
  readonly uri: string;
  readonly name?: string;
}

export const secretFieldsModes = ['refuse', 'warn'] as const;
/** What becomes of a form that asks for what looks like a password, a key, a token or card data. */
export type SecretFields = (typeof secretFieldsModes)[number];

export const onStateExpiredModes = ['close', 'reask'] as const;
/** `reask`: send the original request afresh, and let the person confirm anew what they had answered. */
export type OnStateExpired = (typeof onStateExpiredModes)[number];

/** An error that proves that the server refused a state before it executed anything; every member given must match. */
export interface StateRefusal {
  /** JSON-RPC error code. */
  readonly code: number;
  /** `reason` in the error's data. */
  readonly reason?: string;
  /** The whole message. */
  readonly message?: string;
}

/** A call keeps the policy that it was started with: one from before a member was added does not have it. */
export interface Policy {
  /** The operator's own: calls under way that have another one are lost (design §4), whatever else of the policy changes. */
  readonly version?: string;
  /** Rounds that ask a person; one more ends the call as `rounds_exceeded`. */
  readonly maxRounds: number;
  /** State-only rounds, a budget of their own: "not yet" is no question. */
  readonly maxPolls: number;
  /** Rounds that a person cancelled; a server that asks again after so many ends the call as `rounds_exceeded`. */
  readonly maxCancels: number;
  readonly pollInitialMs: number;
  readonly pollMaxMs: number;
  /** One request with its response. */
  readonly legDeadlineMs: number;
  /** One question to a person. */
  readonly roundDeadlineMs: number;
  /** The whole call. */
  readonly callDeadlineMs: number;
  /** Sends of one leg that provably never reached the server, before the call ends as `unreachable`. */
  readonly maxConnectAttempts: number;
  readonly connectBackoffInitialMs: number;
  readonly connectBackoffMaxMs: number;
  /** Params of the original request. */
  readonly maxArgumentsBytes: number;
  /** A server's whole response to one leg. */
  readonly maxResultBytes: number;
  /** One person's input responses to one round. */
  readonly maxAnswerBytes: number;
  readonly allow: Allowances;
  /** What every request for roots is answered with, where it is allowed. No person is asked. */
  readonly roots: readonly Root[];
  /** Whether a person may be shown an `http` URL that leads to their own machine; every other must be `https`. */
  readonly allowLoopbackUrls: boolean;
  readonly secretFields: SecretFields;
  /** What follows when the server refuses its own state; absent in calls from before it existed: `close`. */
  readonly onStateExpired?: OnStateExpired;
  /** Errors by which this server refuses its state, beside the one that MCP's own libraries use. */
  readonly stateRefusals?: readonly StateRefusal[];
  /** How old the list of tools may be that a first leg relies on; absent in calls from before it existed: a minute. */
  readonly toolCacheMaxAgeMs?: number;
  readonly gate: GateCaps;
}

/** What of a policy decides whether a round may reach a person. */
export type GateRules = Pick<Policy, 'gate' | 'allowLoopbackUrls' | 'secretFields'>;

/** Also of calls whose policy is from before it had a bound. */
export const defaultMaxDepth = 8;

/** Also of calls whose policy is from before it could be less. */
export const maxToolCacheMaxAgeMs = minuteMs;

export const defaultPolicy: Policy = {
  maxRounds: 10,
  maxPolls: 60,
  maxCancels: 3,
  pollInitialMs: secondMs,
  pollMaxMs: 30 * secondMs,
  legDeadlineMs: 2 * minuteMs,
  roundDeadlineMs: 3 * dayMs,
  callDeadlineMs: 14 * dayMs,
  maxConnectAttempts: 5,
  connectBackoffInitialMs: secondMs,
  connectBackoffMaxMs: 30 * secondMs,
  maxArgumentsBytes: 256 * 1024,
  maxResultBytes: 4 * 1024 * 1024,
  maxAnswerBytes: 256 * 1024,
  allow: { form: true, url: true, sampling: false, roots: false },
  roots: [],
  allowLoopbackUrls: false,
  secretFields: 'refuse',
  onStateExpired: 'close',
  stateRefusals: [],
  toolCacheMaxAgeMs: maxToolCacheMaxAgeMs,
  gate: {
    maxRequests: 16,
    maxKeyLength: 256,
    maxDepth: defaultMaxDepth,
    maxFields: 64,
    maxOptions: 500,
    maxMessageBytes: 8 * 1024,
    maxUrlBytes: 8 * 1024,
    maxLabelBytes: 1024,
    maxStateBytes: 256 * 1024,
    maxRoundBytes: 256 * 1024,
  },
};

/** What one leg takes along: arguments twice, for a view shows them too. Sealed, it must stay below Temporal's 2 MB per payload. */
export function largestLegBytes({ maxArgumentsBytes, maxAnswerBytes, gate }: Policy): number {
  return 2 * maxArgumentsBytes + maxAnswerBytes + gate.maxStateBytes + gate.maxRoundBytes;
}

/** Sealing adds a third; the rest of the 2 MB is for digests, ids and the receipt. */
export const maxLegBytes = 1_440 * 1024;

/** What a caller may say about one call. Absent means: as the server's policy has it. */
export type PolicyNarrowing = Partial<
  Pick<Policy, 'maxRounds' | 'maxPolls' | 'legDeadlineMs' | 'roundDeadlineMs' | 'callDeadlineMs'>
> & { readonly allow?: Partial<Allowances> };

/** The smaller of both, member by member: a caller can never widen what the server's owner allows (design §9). */
export function narrow(policy: Policy, wish: PolicyNarrowing): Policy {
  const least = (key: Exclude<keyof PolicyNarrowing, 'allow'>) => Math.min(policy[key], wish[key] ?? policy[key]);
  const both = (key: keyof Allowances) => (policy.allow[key] ?? true) && (wish.allow?.[key] ?? true);
  return {
    ...policy,
    maxRounds: least('maxRounds'),
    maxPolls: least('maxPolls'),
    legDeadlineMs: least('legDeadlineMs'),
    roundDeadlineMs: least('roundDeadlineMs'),
    callDeadlineMs: least('callDeadlineMs'),
    allow: { form: both('form'), url: both('url'), sampling: both('sampling'), roots: both('roots') },
  };
}

/** Exponential back-off: the n-th wait (n ≥ 1) is `initialMs · 2^(n-1)`, at most `maxMs`. */
export function backoffMs(n: number, initialMs: number, maxMs: number): number {
  return Math.min(maxMs, initialMs * 2 ** Math.min(n - 1, 30));
}
