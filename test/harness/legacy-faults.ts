/** A session of MCP 2025-11-25 by hand, for a {@link FaultServer}: it begins and ends well, and is told how to misbehave in between. */

import type { ServerResponse } from 'node:http';
import { json, result, type Behaviour, type Received } from './fault-server.js';

export interface SessionScript {
  /** Default: the one asked for. */
  readonly revision?: string;
  /** Default true. */
  readonly hasSession?: boolean;
  /** Of the GET, for what is pushed elsewhere; default: none is offered. */
  readonly onListen?: (res: ServerResponse) => void;
  readonly onCall: (res: ServerResponse, callId: string) => void;
  /** Of what the client answers to a pushed request. */
  readonly onAnswer?: (res: ServerResponse, request: Received) => void;
}

export function sessionOf({ revision = '2025-11-25', hasSession = true, onListen, onCall, onAnswer }: SessionScript): Behaviour {
  return (res, request) => {
    const { method, body } = request;
    if (method === 'GET') return onListen === undefined ? void res.writeHead(405).end() : onListen(res);
    if (method === 'DELETE') return void res.writeHead(200).end();
    if (body.method === 'initialize') {
      const about = { protocolVersion: revision, capabilities: { tools: {} }, serverInfo: { name: 'faulty', version: '1' } };
      return json(res, 200, result(body.id, about), hasSession ? { 'mcp-session-id': 'session-1' } : {});
    }
    if (body.method === 'tools/list') {
      return json(res, 200, result(body.id, { tools: [{ name: 'go', inputSchema: { type: 'object' } }] }));
    }
    if (body.method === 'tools/call') return onCall(res, String(body.id));
    if (body.method === undefined && onAnswer !== undefined) return onAnswer(res, request);
    res.writeHead(202).end();
  };
}

/** Writes messages as events in one piece, and leaves the stream open. */
export function push(res: ServerResponse, ...messages: readonly object[]): void {
  if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(messages.map((message) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`).join(''));
}

/** With the call's own id in the place of `call`. */
export function named(messages: readonly object[], callId: string): object[] {
  return messages.map((message) => ('id' in message && message.id === 'call' ? { ...message, id: callId } : message));
}
