/**
 * A real MCP server to try Parley with: tools, a prompt and a resource that ask, over Streamable HTTP, MCP revision 2026-07-28, built with
 * the official SDK. It keeps no session: every round can be served by any instance that has the key.
 *
 * `POST /mcp` is the server; `GET /effects` tells what it did.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { localhostHostValidation, toNodeHandler, type NodeIncomingMessageLike } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { registerBriefing } from './briefing.js';
import { registerDeploy } from './deploy.js';
import { registerEcho } from './echo.js';
import { Effects, type EffectsReport } from './effects.js';
import { registerLaunchPlan } from './launch-plan.js';
import { registerOnboard } from './onboard.js';
import { registerReport } from './report.js';
import { RequestStates, type CallIdentity } from './request-state.js';
import type { Toolkit } from './toolkit.js';
import { registerTransfer } from './transfer.js';

export interface ExampleOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Default 127.0.0.1; only there are foreign Host headers refused. */
  readonly host?: string;
  /** Bearer token that every MCP request must carry; none by default. */
  readonly token?: string;
  /** How long a `requestState` can be used, default 3 days: people take their time. */
  readonly stateTtlSeconds?: number;
  /** 32 bytes; without it states die with the process. */
  readonly stateKey?: Buffer;
}

export interface ExampleServer {
  /** Of the MCP endpoint. */
  readonly url: string;
  effects(): EffectsReport;
  close(): Promise<void>;
}

const loopback = '127.0.0.1';
const threeDaysSeconds = 3 * 24 * 60 * 60;

export async function startExampleServer(options: ExampleOptions): Promise<ExampleServer> {
  const { port, host = loopback, token, stateTtlSeconds = threeDaysSeconds, stateKey = randomBytes(32) } = options;
  const effects = new Effects();
  const states = new RequestStates(stateKey, stateTtlSeconds);
  const mcp = createMcpHandler(() => mcpServer({ effects, states }), { legacy: 'reject' });

  const serve = async (request: Request): Promise<Response> => {
    if (!isAllowed(request, token)) {
      return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
    }
    const message: unknown = await request
      .clone()
      .json()
      .catch(() => undefined);
    const call = callOf(message);
    effects.see({ ...seenIn(message), method: call.method, name: call.name });
    return states.during(call, () => mcp.fetch(request));
  };

  const handle = toNodeHandler({ fetch: serve });
  const isHostAllowed = host === loopback ? localhostHostValidation() : () => true;
  const http = createServer((req, res) => {
    if (!isHostAllowed(req, res)) return;
    const { pathname } = new URL(req.url ?? '/', 'http://localhost');
    if (pathname === '/mcp') void handle(req as NodeIncomingMessageLike, res);
    else if (pathname === '/effects' && req.method === 'GET') {
      res.setHeader('content-type', 'application/json').end(JSON.stringify(effects.report()));
    } else res.writeHead(404).end();
  });
  const boundPort = await listen(http, port, host);
  return {
    url: `http://${host === loopback ? loopback : 'localhost'}:${boundPort}/mcp`,
    effects: () => effects.report(),
    close: async () => {
      await mcp.close();
      await new Promise((resolve) => {
        http.close(resolve);
        http.closeAllConnections();
      });
    },
  };
}

/** One instance serves one request. */
function mcpServer(toolkit: Toolkit): McpServer {
  const server = new McpServer({ name: 'parley-example', version: '1.0.0' }, { requestState: { verify: toolkit.states.open } });
  registerDeploy(server, toolkit);
  registerOnboard(server, toolkit);
  registerTransfer(server, toolkit);
  registerReport(server, toolkit);
  registerEcho(server);
  registerBriefing(server, toolkit);
  registerLaunchPlan(server, toolkit);
  return server;
}

function isAllowed(request: Request, token: string | undefined): boolean {
  if (token === undefined) return true;
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(request.headers.get('authorization') ?? ''), hash(`Bearer ${token}`));
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly uri?: string;
    readonly arguments?: unknown;
    readonly inputResponses?: unknown;
    readonly requestState?: unknown;
  };
}

/** Nothing of a message is trusted here: it is only counted, and bound to the state. */
function callOf(message: unknown): CallIdentity {
  const { method, params } = (message ?? {}) as Message;
  return { method: String(method), name: params?.name ?? params?.uri ?? null, arguments: params?.arguments };
}

function seenIn(message: unknown) {
  const { id = null, params } = (message ?? {}) as Message;
  return { id, hasState: params?.requestState !== undefined, hasResponses: params?.inputResponses !== undefined };
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}
