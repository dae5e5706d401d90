/**
 * Serves an `McpServer` of the official SDK over Streamable HTTP, MCP revision 2026-07-28, on the loopback, and keeps what was said: every
 * JSON-RPC request, and what it was answered.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { localhostHostValidation, toNodeHandler, type NodeIncomingMessageLike } from '@modelcontextprotocol/node';
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';

export interface Exchange {
  readonly id: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  /** The JSON-RPC response, also when it came at the end of an event stream. */
  readonly reply: Promise<{ readonly result?: Record<string, unknown>; readonly error?: { readonly code: number } }>;
}

export interface SdkServer {
  /** Of the MCP endpoint. */
  readonly url: string;
  /** In order of arrival. */
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

export interface HostOptions {
  /** Default 0: a free one. */
  readonly port?: number;
  /** As in the SDK: one JSON body, an event stream, or what the answer needs. */
  readonly responseMode?: 'auto' | 'json' | 'sse';
}

/** @param serverOf makes the instance that serves one request */
export async function hostSdkServer(serverOf: () => McpServer, options: HostOptions = {}): Promise<SdkServer> {
  const { port = 0, responseMode = 'auto' } = options;
  const exchanges: Exchange[] = [];
  const mcp = createMcpHandler(serverOf, { legacy: 'reject', responseMode });
  const handle = toNodeHandler({
    fetch: async (request: Request): Promise<Response> => {
      const message = (await request.clone().json()) as Pick<Exchange, 'id' | 'method'> & Partial<Exchange>;
      const response = mcp.fetch(request);
      const reply = response.then(async (given) => replyIn(await given.clone().text()));
      // Whoever looks at it hears of a reply that is none.
      reply.catch(() => {});
      const { id, method, params = {} } = message;
      exchanges.push({ id: String(id), method, params, headers: request.headers, reply });
      return await response;
    },
  });
  const isHostAllowed = localhostHostValidation();
  const http = createServer((req, res) => {
    if (isHostAllowed(req, res)) void handle(req as NodeIncomingMessageLike, res);
  });
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    exchanges,
    close: async () => {
      await mcp.close();
      await new Promise((resolve) => {
        http.close(resolve);
        http.closeAllConnections();
      });
    },
  };
}

/** A body is the response itself, or a stream whose last event is. */
function replyIn(body: string) {
  const events = body.split('\n').filter((line) => line.startsWith('data: '));
  return JSON.parse(events.at(-1)?.slice('data: '.length) ?? body);
}
