/**
 * Proof that a request was, or was not, put on the wire (design §5, step 5). undici announces every request it begins to write on a
 * diagnostics channel, just before the first header byte. A request is recognised there by its W3C `traceparent`, which is random,
 * unique to one send, and harmless to show to the server.
 */

import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** What is known of one request. */
export interface SendWatch {
  /** Header value the request must carry to be recognised. */
  readonly traceparent: string;
  /** How often undici began to write the request: 0 proves that no byte of it left this process. */
  readonly sends: number;
  stop(): void;
}

const channel = 'undici:client:sendHeaders';
const tagLine = /^traceparent: (\S+)\r?$/im;

/** One listener for all requests of this process's legs. */
export class WireProof {
  readonly #sends = new Map<string, number>();
  readonly #listener = (event: unknown) => this.#count(event);

  constructor() {
    subscribe(channel, this.#listener);
  }

  watch(): SendWatch {
    const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
    const sends = this.#sends;
    sends.set(traceparent, 0);
    let stoppedAt: number | undefined;
    return {
      traceparent,
      get sends() {
        return stoppedAt ?? sends.get(traceparent) ?? 0;
      },
      stop: () => {
        stoppedAt ??= sends.get(traceparent) ?? 0;
        sends.delete(traceparent);
      },
    };
  }

  close(): void {
    unsubscribe(channel, this.#listener);
  }

  #count(event: unknown): void {
    const { headers } = event as { headers: string };
    const tag = tagLine.exec(headers)?.[1];
    const before = tag === undefined ? undefined : this.#sends.get(tag);
    if (tag !== undefined && before !== undefined) this.#sends.set(tag, before + 1);
  }
}
