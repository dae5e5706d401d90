/** What one leg says, whatever carries it. */

import type { Capabilities, Method } from '../../domain/call.js';

export interface LegMessage {
  /** JSON-RPC id, different on every leg of every call. */
  readonly wireId: string;
  readonly method: Method;
  /** Complete: the original params, and on a retry `inputResponses` and `requestState`. */
  readonly params: Record<string, unknown>;
  /** Declared for this request alone; replaces whatever `_meta` says. */
  readonly capabilities: Capabilities;
  /** From the call of `send` to the last byte of the response. */
  readonly deadlineMs: number;
  /** Of the response body. */
  readonly maxBytes: number;
}
