/**
 * The SDK's client over a connection that others use as well: its ids, which every client counts from 0, become ids of this connection on
 * the way out and its own again on the way back. Closing it leaves the connection as it is.
 */

import { randomUUID } from 'node:crypto';
import { isJSONRPCRequest, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';

/** What a transport needs of the connection. */
export interface Wire {
  /** Sends a request whose response may have so many bytes; one of the two is called, once. */
  ask(
    request: { readonly id: string },
    maxBytes: number,
    onReply: (message: Record<string, unknown>, bytes: number) => void,
    onLost: () => void,
  ): void;
  forget(id: string): void;
}

export class SharedTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #wire: Wire;
  readonly #prefix = `catalog.${randomUUID()}`;
  readonly #asked = new Set<string>();
  #bytesLeft: number;

  /** @param maxBytes of all responses together */
  constructor(wire: Wire, maxBytes: number) {
    this.#wire = wire;
    this.#bytesLeft = maxBytes;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    // Notifications of the client's are about its own requests: nothing here is worth cancelling.
    if (!isJSONRPCRequest(message)) return;
    const id = `${this.#prefix}.${message.id}`;
    this.#asked.add(id);
    const onReply = (reply: Record<string, unknown>, bytes: number): void => {
      this.#asked.delete(id);
      this.#bytesLeft -= bytes;
      this.onmessage?.({ ...reply, id: message.id } as JSONRPCMessage);
    };
    this.#wire.ask({ ...message, id }, this.#bytesLeft, onReply, () => this.onclose?.());
  }

  async close(): Promise<void> {
    for (const id of this.#asked) this.#wire.forget(id);
    this.#asked.clear();
    this.onclose?.();
  }
}
