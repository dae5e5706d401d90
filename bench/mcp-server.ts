/**
 * The MCP server of the benchmark (2026-07-28, Streamable HTTP): as cheap as one can be, so that what is measured is the way to it. It
 * runs in the benchmark's own process, whose clock then tells when a request arrived.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { now } from './stats.js';

/** Completes at once. */
export const plainTool = 'plain';
/** Asks for one confirmation, then completes. */
export const askingTool = 'asking';
/** Key of its form. */
export const formKey = 'confirmation';

/** One `tools/call`; instants as of {@link now}. */
export interface Arrival {
  readonly arrivedAt: number;
  readonly repliedAt: number;
}

interface Message {
  readonly id: string | number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly inputResponses?: unknown };
}

export class BenchServer {
  readonly url: string;
  /** HTTP requests by JSON-RPC method. */
  readonly posts = new Map<string, number>();
  /** The latest tools/call. */
  last: Arrival | undefined;
  #waiting: ((arrival: Arrival) => void)[] = [];

  private constructor(private readonly server: ReturnType<typeof createServer>) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const arrivedAt = now();
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.#reply(JSON.parse(Buffer.concat(chunks).toString()) as Message, response, arrivedAt));
    });
  }

  static async start(): Promise<BenchServer> {
    const server = createServer();
    // Longer than any pause of a run: nobody's figures shall hold a reconnection that the other side was spared.
    server.keepAliveTimeout = 600_000;
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return new BenchServer(server);
  }

  /** Of all methods. */
  get postCount(): number {
    return [...this.posts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The next tools/call that comes in. */
  async next(): Promise<Arrival> {
    return await new Promise((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    await new Promise<void>((closed) => {
      this.server.close(() => closed());
      this.server.closeAllConnections();
    });
  }

  #reply({ id, method, params }: Message, response: ServerResponse, arrivedAt: number): void {
    this.posts.set(method, (this.posts.get(method) ?? 0) + 1);
    const body = JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) });
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    if (method !== 'tools/call') return;
    const arrival = { arrivedAt, repliedAt: now() };
    this.last = arrival;
    for (const tell of this.#waiting.splice(0)) tell(arrival);
  }
}

function resultOf(method: string, params: Message['params']): object {
  switch (method) {
    case 'server/discover':
      return discovered;
    case 'tools/list':
      return { resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' };
    default:
      return params?.name === askingTool && params.inputResponses === undefined ? question : answer;
  }
}

const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  serverInfo: { name: 'bench', version: '1' },
  ttlMs: 0,
  cacheScope: 'private',
};

const tools = [plainTool, askingTool].map((name) => ({
  name,
  description: `${name} tool of the benchmark`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}));

const question = {
  resultType: 'input_required',
  inputRequests: {
    [formKey]: {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'Go on?',
        requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] },
      },
    },
  },
  requestState: 'a state that a server seals is some hundred characters long'.padEnd(300, '.'),
};

const answer = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };
