/**
 * What a leg's ending means (design §5, step 5): answered, refused by the server, never sent, or unknown. "Never sent" needs proof;
 * whatever is neither answered nor proven is `unknown`, and that is final.
 */

import type { LegEnding } from './leg.js';

/** `reason` and `proof` are stable codes; `message` is the server's text, untrusted, at most 8 KiB. */
export type WireOutcome =
  /** RAW result, not yet through the gate; a missing `resultType` means `complete`. */
  | { readonly is: 'answered'; readonly result: Record<string, unknown> }
  /** The server's JSON-RPC error, under our id. */
  | {
      readonly is: 'error';
      readonly code: number;
      readonly message: string;
      readonly data?: unknown;
      readonly httpStatus?: number;
    }
  /** An HTTP status that says the request was not executed. */
  | { readonly is: 'rejected'; readonly status: number; readonly message: string }
  /** No byte of the request left this process: the leg may be tried again. */
  | { readonly is: 'never_sent'; readonly proof: string }
  | { readonly is: 'unknown'; readonly reason: string };

const maxMessageBytes = 8 * 1024;

/** @param sends how often the request began to be written, see `wire-proof.ts` */
export function outcomeOf(ending: LegEnding, sends: number): WireOutcome {
  switch (ending.is) {
    case 'result':
      return { is: 'answered', result: ending.result };
    case 'error':
      return { ...ending, message: clip(ending.message) };
    case 'http':
      return provesRefusal(ending.status)
        ? { is: 'rejected', status: ending.status, message: clip(ending.message) }
        : { is: 'unknown', reason: `http_${ending.status}` };
    case 'broken':
      return sends === 0 ? { is: 'never_sent', proof: ending.reason } : { is: 'unknown', reason: ending.reason };
  }
  return ending satisfies never;
}

/** Timeouts, throttling and server errors may come after the tool has run; so may any success that carries no answer. */
function provesRefusal(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 429;
}

function clip(text: string): string {
  const bytes = Buffer.from(text);
  // A character cut in half at the bound becomes U+FFFD.
  return bytes.length <= maxMessageBytes ? text : bytes.subarray(0, maxMessageBytes).toString();
}
