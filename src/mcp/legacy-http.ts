/**
 * HTTP of one session of MCP 2025-11-25: every request within the bounds of `http-exchange.ts`, under the session's headers, followed by no
 * other. What a server pushes may come on the call's own stream or on the one that a GET opens: both are this session's.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { StreamableHTTPClientTransport, type Client, type FetchLike } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import { exchange } from './http-exchange.js';
import { noReconnection } from './leg-transport.js';
import type { ServerEndpoint } from './server-endpoint.js';

export const legacyRevision = '2025-11-25';

/** A server pushes nothing over a stream that is not open yet; one that opens none answers 405 at once. */
const streamPatienceMs = 2_000;
/** What ends a session politely must not hold anybody up. */
const farewellMs = 1_500;
/** Of a reply that says no more than that a message was taken. */
const maxReceiptBytes = 64 * 1024;

export interface Beginning {
  /** Sends its POSTs. */
  readonly post: FetchLike;
  /** Of what the server pushes over its own stream. */
  readonly maxPushedBytes: number;
  /** Told of every request and notification that the server sends of its own accord. */
  readonly onPushed: (message: unknown) => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export class LegacyHttp {
  #isBegun = false;
  #sessionId: string | undefined;
  /** Read by every request when it is made, so that a credential can be renewed. */
  readonly #headers: Record<string, string> = {};
  readonly #url: URL;

  constructor(
    private readonly agent: Dispatcher,
    endpoint: ServerEndpoint,
  ) {
    this.#url = new URL(endpoint.url);
    this.use(endpoint);
  }

  /** `initialize`, `notifications/initialized`, and the stream for pushed messages. */
  async begin(client: Client, { post, maxPushedBytes, onPushed, timeoutMs: timeout, signal }: Beginning): Promise<void> {
    let streamOpen: Promise<unknown> = Promise.resolve();
    const transport = this.transport(async (target, init) => {
      if (init?.method !== 'GET') return post(target, init);
      const opening = exchange(this.agent, this.#url, init, maxPushedBytes);
      streamOpen = opening.catch(() => undefined);
      return opening;
    });
    await client.connect(transport, { timeout, signal });
    this.#isBegun = true;
    this.#sessionId = transport.sessionId;
    const { onmessage: toClient } = transport;
    // The client would refuse what it is asked: only its own responses are its business.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    transport.onmessage = (message) => ('method' in message ? onPushed(message) : toClient?.call(transport, message));
    await Promise.race([streamOpen, sleep(streamPatienceMs, undefined, { ref: false })]);
  }

  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** A server that gives none cannot be answered. */
  get hasSession(): boolean {
    return this.#sessionId !== undefined;
  }

  /** From now on, this credential. */
  use({ bearer }: ServerEndpoint): void {
    if (bearer === undefined) delete this.#headers['authorization'];
    else this.#headers['authorization'] = `Bearer ${bearer}`;
  }

  /** Builds requests and reads event streams; none of its own redirects, re-sends or reconnects. */
  transport(fetch: FetchLike): StreamableHTTPClientTransport {
    const sessionId = this.#sessionId;
    return new StreamableHTTPClientTransport(this.#url, {
      fetch,
      requestInit: { headers: this.#headers, redirect: 'manual' },
      reconnectionOptions: noReconnection,
      ...(sessionId !== undefined && { sessionId }),
      ...(this.#isBegun && { protocolVersion: legacyRevision }),
    });
  }

  /** A POST of one message that has no response of its own. */
  async tell(message: object, signal: AbortSignal, traceparent?: string): Promise<Response> {
    const headers = {
      ...this.#sessionHeaders(),
      ...(traceparent !== undefined && { traceparent }),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return exchange(this.agent, this.#url, { method: 'POST', headers, body, signal }, maxReceiptBytes);
  }

  /** Tells the server that nobody waits any more, and ends the session. Never throws; whether the server obeys is its own affair. */
  async farewell(callId: string | undefined): Promise<void> {
    const signal = AbortSignal.timeout(farewellMs);
    const params = { requestId: callId, reason: 'the call is over' };
    const drop = (response: Response) => response.body?.cancel();
    try {
      if (callId !== undefined) await this.tell({ method: 'notifications/cancelled', params }, signal).then(drop);
      if (!this.hasSession) return;
      const init = { method: 'DELETE', headers: this.#sessionHeaders(), signal };
      await exchange(this.agent, this.#url, init, maxReceiptBytes).then(drop);
    } catch {
      // A session that is not ended ends by itself.
    }
  }

  #sessionHeaders(): Record<string, string> {
    const sessionId = this.#sessionId;
    return {
      ...this.#headers,
      ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
      'mcp-protocol-version': legacyRevision,
    };
  }
}
