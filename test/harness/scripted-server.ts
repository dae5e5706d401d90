/**
 * An MCP server (2026-07-28, Streamable HTTP) on a raw socket whose every answer a test decides, down to the bytes: what no SDK server
 * would send. It keeps every request it saw.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Call {
  readonly id: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
  /** 1 for the first call of a method that may ask, counting all of them. */
  readonly n: number;
  readonly headers: IncomingMessage['headers'];
}

export interface Reply {
  result(result: Record<string, unknown>): void;
  error(code: number, message: string, data?: unknown): void;
  /** The response, for anything else. */
  readonly raw: ServerResponse;
}

export interface ScriptedServer {
  readonly url: string;
  /** tools/call, prompts/get and resources/read, in order of arrival. */
  readonly calls: readonly Call[];
  /** Paths of every HTTP request, MCP or not. */
  readonly paths: readonly string[];
  close(): Promise<void>;
}

const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {}, prompts: {}, resources: {} },
  serverInfo: { name: 'scripted', version: '1' },
  ttlMs: 0,
  cacheScope: 'private',
};

interface Page {
  readonly tools: readonly object[];
  readonly nextCursor?: string;
}

type Listed = readonly object[] | Page;

/** @param tools as `tools/list` shows them; a function is asked every time, for each page, so that a test can change a definition */
export async function scriptedServer(
  tools: readonly object[] | ((cursor?: string) => Listed | Promise<Listed>),
  answer: (call: Call, reply: Reply) => void | Promise<void>,
  port = 0,
): Promise<ScriptedServer> {
  const calls: Call[] = [];
  const paths: string[] = [];
  const server = createServer(async (request, response) => {
    paths.push(request.url ?? '');
    const message = JSON.parse(await bodyOf(request)) as { id: string; method: string; params: Record<string, unknown> };
    const reply = replyTo(message.id, response);
    if (message.method === 'server/discover') return reply.result(discovered);
    if (message.method === 'tools/list') {
      const listed = typeof tools === 'function' ? await tools(message.params['cursor'] as string | undefined) : tools;
      const page = 'tools' in listed ? listed : { tools: listed };
      return reply.result({ resultType: 'complete', ...page, ttlMs: 0, cacheScope: 'private' });
    }
    const call = { ...message, n: calls.length + 1, headers: request.headers };
    calls.push(call);
    await answer(call, reply);
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls,
    paths,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** A tool that takes any arguments. */
export function tool(name: string, more: object = {}): object {
  return { name, description: `${name} of a scripted server`, inputSchema: { type: 'object' }, ...more };
}

/** `inputRequests` with one form under `key`. */
export function asking(key: string, properties: Record<string, object>, required: string[] = Object.keys(properties)) {
  const requestedSchema = { type: 'object', properties, required };
  return { [key]: { method: 'elicitation/create', params: { mode: 'form', message: `about ${key}`, requestedSchema } } };
}

export const done = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };

function replyTo(id: string, raw: ServerResponse): Reply {
  const send = (body: object): void => {
    raw.writeHead(200, { 'content-type': 'application/json' });
    raw.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  };
  return {
    result: (result) => send({ result }),
    error: (code, message, data) => send({ error: { code, message, ...(data !== undefined && { data }) } }),
    raw,
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString() || '{}';
}
