/** Every way a call can end, in words for people; the gate's reasons are in {@link ./gate-refusal.ts}. Published as docs/codes.md. */

import type { GateCode } from './gate.js';
import type { Outcome, Reason, WaitReason } from './outcome.js';

export interface ReasonKind {
  readonly outcome: Outcome;
  /** What happened: one sentence that holds no word of the call. */
  readonly meaning: string;
}

const kinds = {
  complete_result: {
    outcome: 'completed',
    meaning: 'The server returned a complete result. A tool that reports an error in it (`isError`) has completed as well.',
  },
  server_error: {
    outcome: 'failed',
    meaning:
      'The server answered with a JSON-RPC error, or what it says of itself and its tools is not usable; `problem.detail` tells which.',
  },
  http_rejected: {
    outcome: 'failed',
    meaning:
      'The server answered with an HTTP status that says the request was not executed: 3xx, or 4xx except 401, 408 and 429.',
  },
  missing_client_capability: {
    outcome: 'failed',
    meaning:
      'The server needs a client capability that the call does not declare (JSON-RPC error -32021); `problem.detail.requiredCapabilities` names it.',
  },
  output_invalid: {
    outcome: 'failed',
    meaning: 'The tool ran, and its result does not fit its own output schema. The result is in `problem.detail`.',
  },
  audit_unavailable: {
    outcome: 'refused',
    meaning: 'The audit entry of the leg could not be written and read back, so the leg was not sent.',
  },
  tool_unknown: {
    outcome: 'refused',
    meaning: 'The server offers no such tool, so nothing was sent.',
  },
  state_foreign: {
    outcome: 'refused',
    meaning: 'The server sent a request state that it gave to another tenant or subject before.',
  },
  round_deadline: {
    outcome: 'expired',
    meaning: 'Nobody answered the round before its deadline.',
  },
  call_deadline: {
    outcome: 'expired',
    meaning: 'The deadline of the whole call passed.',
  },
  reauthorization_required: {
    outcome: 'expired',
    meaning:
      'The server refused the registered credential (401, or 403 when it was asked for its tools), or it cannot be read, and the call was not resumed before the deadline.',
  },
  cancel_requested: {
    outcome: 'cancelled',
    meaning: 'The caller, the subject or an operator cancelled the call.',
  },
  consent_withdrawn: {
    outcome: 'cancelled',
    meaning: 'An operator withdrew the question that the call waited for. Nothing was sent in its place.',
  },
  terminated: {
    outcome: 'cancelled',
    meaning: 'The workflow was terminated or deleted in Temporal while no leg was on its way, and nothing more can be sent.',
  },
  round_cap: {
    outcome: 'rounds_exceeded',
    meaning: 'The server asked a person more often than `maxRounds` allows.',
  },
  poll_cap: {
    outcome: 'rounds_exceeded',
    meaning: 'The server asked nobody anything (its state alone, or for roots) more often than `maxPolls` allows.',
  },
  cancel_cap: {
    outcome: 'rounds_exceeded',
    meaning: 'The server asked again after the person had cancelled `maxCancels` rounds.',
  },
  server_changed: {
    outcome: 'binding_lost',
    meaning: 'The registration of the server (id, transport, URL or command line, references to secrets) is gone or has changed.',
  },
  policy_changed: {
    outcome: 'binding_lost',
    meaning: 'The policy of the server was given another `version` than it had when the call was started.',
  },
  principal_not_allowed: {
    outcome: 'binding_lost',
    meaning: "The call's tenant, subject or requester is not among those whom `access` of the server lists.",
  },
  params_changed: {
    outcome: 'binding_lost',
    meaning: 'The stored params are not those that the call was started with.',
  },
  tool_definition_changed: {
    outcome: 'binding_lost',
    meaning: "The tool's definition has changed since leg 1, or the tool is gone.",
  },
  ledger_lost: {
    outcome: 'binding_lost',
    meaning: 'The ledger is not the one that the call was started with, or it does not know the leg before.',
  },
  answer_altered: {
    outcome: 'binding_lost',
    meaning: 'The answer, its receipt and what was shown do not belong together.',
  },
  answer_already_used: {
    outcome: 'binding_lost',
    meaning:
      'The answer was used for another leg before, or the person was asked again since, by a workflow that was reset: only the answer to the latest question is sent.',
  },
  connection_lost: {
    outcome: 'binding_lost',
    meaning:
      "The call lived on one connection (a stdio server's process, or a session of MCP 2025-11-25, held by one worker), and the connection or its worker is gone. It is not replayed to another one. What a server made of a call of such a session in the end, nobody heard.",
  },
  request_state_refused: {
    outcome: 'state_expired',
    meaning:
      'The server refused its own request state (JSON-RPC error -32602 with reason `invalid_request_state`, or an error that its policy lists under `stateRefusals`).',
  },
  connect_attempts_spent: {
    outcome: 'unreachable',
    meaning: 'The leg could not be sent in any of its attempts, and it is proven that it never reached the server.',
  },
  ledger_not_replicated: {
    outcome: 'unreachable',
    meaning:
      'Fewer replicas of the store than `PARLEY_REDIS_REPLICAS` confirmed in time that the leg was begun, in any of its attempts. It was not sent.',
  },
  never_started: {
    outcome: 'unreachable',
    meaning:
      'The call was stored while Temporal was away, and nobody repeated the request that would have started it. Nothing was sent.',
  },
  leg_unknown: {
    outcome: 'indeterminate',
    meaning: 'A leg was sent, or may have been, and nobody can tell what the server did with it.',
  },
} as const satisfies Record<Exclude<Reason, GateCode>, ReasonKind>;

/** What an open call waits for, in words for people. */
export const waits: Readonly<Record<WaitReason, string>> = {
  reauthorization_required:
    'The server refused the registered credential, or it cannot be read. Renew it, then resume the call; nothing is sent meanwhile.',
  server_held: 'An operator holds the server: no leg is sent to it until it is released.',
  tenant_held: 'An operator holds the tenant: none of its legs is sent until it is released.',
};

export const reasons: Readonly<Record<keyof typeof kinds, ReasonKind>> = kinds;
