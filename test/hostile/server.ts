/**
 * The hostile MCP server: a raw HTTP server that answers each call as the case of the same name says, and counts what reaches it. Beside
 * it stands another origin, to which everything hostile points and which must receive nothing.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { done, tool } from '../harness/scripted-server.js';

/** One request for a tool, a prompt or a resource. */
export interface Leg {
  readonly id: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
  /** 1 for the first one of its case. */
  readonly n: number;
  readonly response: ServerResponse;
  /** Of the other origin, with no path. */
  readonly elsewhere: string;
}

/** Answers a leg with a result, with the text of one (for what no object can hold), or however it likes. */
export type Serving = object | string | ((leg: Leg) => void);

export interface Served {
  readonly name: string;
  /** Of leg 1; a later leg is answered with a complete result, unless this is a function. */
  readonly serves: Serving;
  /** Of the tool's definition. */
  readonly definition?: object;
}

/** Paths beside `/mcp` at which a question is the answer to what must not ask. */
const askingMethods: Readonly<Record<string, string>> = { '/asks-on-discover': 'server/discover', '/asks-on-list': 'tools/list' };

const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {}, prompts: {}, resources: {} },
  serverInfo: { name: 'Parley', version: '1' },
  ttlMs: 0,
  cacheScope: 'private',
};
const question = { resultType: 'input_required', requestState: 'once more' };

export class HostileServer {
  /** What no client of this revision sends: another method than POST, another path, or no request of MCP's. */
  readonly strays: string[] = [];
  /** Whatever reached the other origin. */
  readonly baited: string[] = [];
  readonly #legs = new Map<string, Leg[]>();
  readonly #questions = new Map<string, number>();
  readonly #http = createServer((request, response) => void this.#serve(request, response));
  readonly #elsewhere = createServer((request, response) => {
    this.baited.push(`${request.method} ${request.url}`);
    response.end('{}');
  });

  constructor(private readonly cases: ReadonlyMap<string, Served>) {}

  async open(): Promise<this> {
    // A test process that is kept waiting must not close a connection just as the next request arrives on it.
    this.#http.keepAliveTimeout = 0;
    await Promise.all([listen(this.#http), listen(this.#elsewhere)]);
    return this;
  }

  close(): void {
    for (const server of [this.#http, this.#elsewhere]) {
      server.closeAllConnections();
      server.close();
    }
  }

  get origin(): string {
    return originOf(this.#http);
  }

  get elsewhere(): string {
    return originOf(this.#elsewhere);
  }

  /** What reached the server for one case, in order. */
  legs(name: string): readonly Leg[] {
    return this.#legs.get(name) ?? [];
  }

  /** How often what must not ask was answered with a question at `path`. */
  questions(path: string): number {
    return this.#questions.get(path) ?? 0;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const text = await bodyOf(request);
    // A client that gives a response up resets the connection.
    response.on('error', () => {});
    const message = jsonOf(text);
    const isRequest = typeof message['method'] === 'string' && message['id'] !== undefined;
    if (request.method !== 'POST' || !isRequest || !(path === '/mcp' || path in askingMethods)) {
      this.strays.push(`${request.method} ${path} ${text.slice(0, 200)}`);
      return void response.writeHead(404).end();
    }
    const { id, method, params = {} } = message as { id: string; method: string; params?: Record<string, unknown> };
    if (askingMethods[path] === method) {
      this.#questions.set(path, this.questions(path) + 1);
      return reply(response, id, question);
    }
    if (method === 'server/discover') return reply(response, id, discovered);
    if (method === 'tools/list') return reply(response, id, this.#tools());
    this.#answer({ id, method, params, response });
  }

  #tools(): object {
    const tools = [...this.cases.values()].map(({ name, definition }) => tool(name, definition));
    return { resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' };
  }

  #answer(request: Pick<Leg, 'id' | 'method' | 'params' | 'response'>): void {
    const { params, id, response } = request;
    const name = String(params['name'] ?? params['uri']);
    const known = this.cases.get(name.replace('hostile://', ''));
    if (known === undefined) throw new Error(`no case is called ${name}`);
    const before = this.legs(known.name);
    const leg: Leg = { ...request, n: before.length + 1, elsewhere: this.elsewhere };
    this.#legs.set(known.name, [...before, leg]);
    const { serves } = known;
    if (typeof serves === 'function') return serves(leg);
    reply(response, id, leg.n > 1 ? done : serves);
  }
}

/** @param result as an object, or as the text that stands for one */
export function reply(response: ServerResponse, id: unknown, result: object | string): void {
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  replyWith(response, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`);
}

export function replyWith(response: ServerResponse, body: string | Buffer, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
}

async function listen(server: Server): Promise<void> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
