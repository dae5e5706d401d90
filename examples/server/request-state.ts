/**
 * Seals `requestState` (MCP 2026-07-28, multi round-trip requests). It travels through the client, so it comes back as somebody else's
 * input: it is encrypted, so that nobody reads it; authenticated, so that nobody changes it; it expires; and it is bound to the method,
 * name and arguments it was made for, so that a consent given to one call cannot be spent on another.
 *
 * The SDK has `createRequestStateCodec`, which signs but does not encrypt. Nothing here makes a state usable only once: a client that
 * repeats a retry repeats its effect.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** What a state is bound to. */
export interface CallIdentity {
  readonly method: string;
  readonly name: string | null;
  readonly arguments: unknown;
}

interface Envelope {
  readonly progress: unknown;
  readonly expiresAt: number;
}

const ivBytes = 12;
const tagBytes = 16;

export class RequestStates {
  readonly #key: Buffer;
  readonly #ttlMs: number;
  readonly #current = new AsyncLocalStorage<Buffer>();

  /** @param key 32 bytes, the same on every instance that may see the state again */
  constructor(key: Buffer, ttlSeconds: number) {
    this.#key = key;
    this.#ttlMs = ttlSeconds * 1_000;
  }

  /** Runs `serve` for one call; states sealed and opened meanwhile are bound to that call. */
  during<T>(call: CallIdentity, serve: () => T): T {
    const identity = createHash('sha256').update(JSON.stringify([call.method, call.name, call.arguments ?? null]));
    return this.#current.run(identity.digest(), serve);
  }

  seal(progress: unknown): string {
    const envelope: Envelope = { progress, expiresAt: Date.now() + this.#ttlMs };
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(this.#call());
    const sealed = Buffer.concat([cipher.update(JSON.stringify(envelope), 'utf8'), cipher.final()]);
    return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /**
   * For `ServerOptions.requestState.verify`: whatever is thrown here reaches the client as -32602 `invalid_request_state`, and what is
   * returned reaches the handler through `ctx.mcpReq.requestState()`.
   */
  readonly open = (state: string): unknown => {
    const bytes = Buffer.from(state, 'base64url');
    const iv = bytes.subarray(0, ivBytes);
    const tag = bytes.subarray(-tagBytes);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes });
    decipher.setAAD(this.#call()).setAuthTag(tag);
    const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]).toString('utf8');
    const { progress, expiresAt } = JSON.parse(text) as Envelope;
    if (Date.now() >= expiresAt) throw new Error('expired');
    return progress;
  };

  #call(): Buffer {
    const call = this.#current.getStore();
    if (call === undefined) throw new Error('a state belongs to a call');
    return call;
  }
}
