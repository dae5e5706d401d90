/** How an invocation stands and how it ends (design §3). The names are a public contract and stored for years. */

import type { GateCode } from './gate.js';

export const openStatuses = ['sending', 'awaiting_input', 'awaiting_server'] as const;
export type OpenStatus = (typeof openStatuses)[number];

export const outcomes = [
  'completed',
  'failed',
  'refused',
  'expired',
  'cancelled',
  'rounds_exceeded',
  'binding_lost',
  'state_expired',
  'unreachable',
  'indeterminate',
] as const;
export type Outcome = (typeof outcomes)[number];

/** `closed` is the status of every invocation that has an outcome. */
export type InvocationStatus = OpenStatus | 'closed';

/** Which part of the binding (design §4) changed between legs. */
export const bindingParts = [
  'server_changed',
  'policy_changed',
  'principal_not_allowed',
  'params_changed',
  'tool_definition_changed',
  'ledger_lost',
  'answer_altered',
  'answer_already_used',
  'connection_lost',
] as const;
export type BindingPart = (typeof bindingParts)[number];

/** What an open call waits for beside a person's answer and the server: it goes on when somebody has acted and it is told to `resume`. */
export const waitReasons = ['reauthorization_required', 'server_held', 'tenant_held'] as const;
export type WaitReason = (typeof waitReasons)[number];

/** Why a call ended as it did: stable, for programs. */
export type Reason =
  | 'complete_result'
  | 'server_error'
  | 'http_rejected'
  | 'missing_client_capability'
  | 'output_invalid'
  | 'audit_unavailable'
  | 'tool_unknown'
  | 'state_foreign'
  | GateCode
  | 'round_deadline'
  | 'call_deadline'
  | 'reauthorization_required'
  | 'cancel_requested'
  | 'consent_withdrawn'
  | 'terminated'
  | 'round_cap'
  | 'poll_cap'
  | 'cancel_cap'
  | BindingPart
  | 'request_state_refused'
  | 'connect_attempts_spent'
  | 'ledger_not_replicated'
  | 'never_started'
  | 'leg_unknown';
