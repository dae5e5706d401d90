/**
 * HTTP of one session of MCP 2025-11-25: every request within the bounds of `http-post.ts`, under the session's headers, followed by no
 * other. What a server pushes may come on the call's own stream or on the one that a GET opens: both are this session's.
 */

import { StreamableHTTPClientTransport, type FetchLike } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import { exchange } from './http-post.js';
import { noReconnection } from './leg-transport.js';
import type { ServerEndpoint } from './server-endpoint.js';

export const legacyRevision = '2025-11-25';

/** What ends a session politely must not hold anybody up. */
const farewellMs = 1_500;
/** Of a reply that says no more than that a message was taken. */
const maxReceiptBytes = 64 * 1024;

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

  /** @param sessionId undefined of a server that gives none: it cannot be answered */
  begin(sessionId: string | undefined): void {
    this.#isBegun = true;
    this.#sessionId = sessionId;
  }

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

  /** The GET that a server may push over. */
  async listen(init: RequestInit, maxBytes: number): Promise<Response> {
    return exchange(this.agent, this.#url, { ...init, method: 'GET' }, maxBytes);
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
