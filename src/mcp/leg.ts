/**
 * One leg in flight: the first thing that settles it wins, and afterwards nothing may be sent any more. What it came to on the wire is
 * kept raw; what it means is decided in `leg-outcome.ts`.
 */

import { isObject } from '../../domain/server-json.js';

/** `setTimeout` fires at once past this. */
export const maxTimerMs = 2 ** 31 - 1;

/** How a leg's exchange ended, as seen by the HTTP client. */
export type LegEnding =
  /** A JSON-RPC result under our id, exactly as the server sent it. */
  | { readonly is: 'result'; readonly result: Record<string, unknown> }
  /** A JSON-RPC error under our id. */
  | {
      readonly is: 'error';
      readonly code: number;
      readonly message: string;
      readonly data?: unknown;
      /** Present when it was not 200. */
      readonly httpStatus?: number;
    }
  /** An HTTP status other than 200, without a JSON-RPC answer under our id. */
  | { readonly is: 'http'; readonly status: number; readonly message: string }
  /** No answer: a stable code that says why. Whether the request was sent is another question. */
  | { readonly is: 'broken'; readonly reason: string };

export class Leg {
  readonly ended: Promise<LegEnding>;
  #resolve!: (ending: LegEnding) => void;
  #isOver = false;
  #isPosted = false;

  /** @param wireId JSON-RPC id of this leg's request; the only id a response is accepted under */
  constructor(readonly wireId: string) {
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  end(ending: LegEnding): void {
    this.#isOver = true;
    this.#resolve(ending);
  }

  /**
   * Must be called directly before the request goes to the HTTP client, with nothing awaited in between.
   *
   * @throws {Error} when the leg has ended, or was posted before: then nothing may be sent
   */
  takePost(): void {
    if (this.#isOver) throw new Error('the leg is over');
    if (this.#isPosted) throw new Error('the leg was posted already');
    this.#isPosted = true;
  }

  /** Whether the request was handed to the HTTP client; no proof that it was sent. */
  get wasPosted(): boolean {
    return this.#isPosted;
  }

  /** Ends the leg if `message` is a JSON-RPC response; the SDK would match ids loosely and normalise the result. */
  receive(message: unknown): void {
    const ending = responseOf(message, this.wireId);
    if (ending !== undefined) this.end(ending);
  }
}

/** @returns undefined for what is no response: a notification, or no JSON-RPC at all */
function responseOf(message: unknown, wireId: string): LegEnding | undefined {
  if (!isObject(message) || 'method' in message) return undefined;
  const { id, result, error } = message;
  if (!isObject(result) && !isObject(error)) return undefined;
  if (id !== wireId) return { is: 'broken', reason: 'response_id_mismatch' };
  if (isObject(result)) return { is: 'result', result };
  return errorOf(error) ?? { is: 'broken', reason: 'response_invalid' };
}

/** A JSON-RPC error object, else undefined. */
export function errorOf(error: unknown): Extract<LegEnding, { is: 'error' }> | undefined {
  if (!isObject(error)) return undefined;
  const { code, message, data } = error;
  if (typeof code !== 'number' || typeof message !== 'string') return undefined;
  return { is: 'error', code, message, ...(data !== undefined && { data }) };
}
