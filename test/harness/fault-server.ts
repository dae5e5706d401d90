/** A raw HTTP server that misbehaves towards an MCP client as it is told, and remembers every request it got. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: RpcBody;
}

export interface RpcBody {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> & { readonly _meta?: Readonly<Record<string, unknown>> };
}

export type Behaviour = (res: ServerResponse, request: Received) => void;

export class FaultServer {
  readonly received: Received[] = [];
  readonly #http = createServer((req, res) => void this.#serve(req, res));
  #behave: Behaviour = () => {};

  /** @returns URL of its MCP endpoint */
  async start(behave: Behaviour): Promise<string> {
    this.#behave = behave;
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`;
  }

  stop(): void {
    this.#http.closeAllConnections();
    this.#http.close();
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of req) text += chunk;
    const request = { method: req.method ?? '', headers: req.headers, body: text === '' ? {} : (JSON.parse(text) as RpcBody) };
    this.received.push(request);
    this.#behave(res, request);
  }
}

export function json(res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function result(id: unknown, value: object) {
  return { jsonrpc: '2.0', id, result: value };
}

export function rpcError(id: unknown, code: number, message = 'no', data?: unknown) {
  return { jsonrpc: '2.0', id, error: { code, message, data } };
}

/** Writes events, each with an id as if the stream could be resumed, and leaves the stream open. */
export function sse(res: ServerResponse, ...events: unknown[]): ServerResponse {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) res.write(`id: 7\ndata: ${JSON.stringify(event)}\n\n`);
  return res;
}
