/**
 * The MCP server of the matrix, a process of its own on a raw socket, so that it can be killed and started again. Every effect is in a
 * file, with fsync, before a byte of the reply is sent: what it did is known whatever becomes of it.
 *
 * `node effect-server.js PORT FILE [--held]`: with `--held` a leg stops where its call asks it to, until POST /release.
 */

import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { legOf, listed, readCall, replyTo, type Message } from './effect-protocol.js';
import type { WireHold } from './moments.js';

const [port, file = '', ...flags] = process.argv.slice(2);
const log = openSync(file, 'a', 0o600);
const sockets = new Set<Socket>();
const held = new Set<() => void>();
let isHolding = flags.includes('--held');

const server = createServer((request, response) => void serve(request, response));
server.on('connection', (socket) => {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  socket.on('error', () => {});
});
server.keepAliveTimeout = 600_000;
server.listen(Number(port), '127.0.0.1', () => say({ event: 'ready', url: `http://127.0.0.1:${port}/mcp` }));
process.once('SIGTERM', () => {
  closeSync(log);
  process.exit(0);
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  switch (request.url) {
    case '/release':
      return release(response);
    case '/reset':
      for (const socket of sockets) if (socket !== request.socket) socket.resetAndDestroy();
      return release(response);
  }
  const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
  const body = listed(message);
  if (body === undefined) await runLeg(message, response);
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function runLeg(message: Message, response: ServerResponse): Promise<void> {
  const { call, hold } = readCall(message);
  const leg = legOf(message);
  const { id, method } = message;
  const stop = (at: WireHold): Promise<void> | undefined => (hold === `${at}@${leg}` ? stopped(call, at) : undefined);
  record({ is: 'arrival', call, leg, id, method });
  await stop('before_effect');
  record({ is: 'effect', call, leg, id, method });
  await stop('effect');
  const body = JSON.stringify(replyTo(message));
  const half = Math.floor(body.length / 2);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.write(body.slice(0, half));
  await stop('first_byte');
  response.end(body.slice(half));
}

async function stopped(call: string, at: WireHold): Promise<void> {
  if (!isHolding) return;
  say({ event: 'held', call, at });
  await new Promise<void>((go) => held.add(go));
}

function release(response: ServerResponse): void {
  isHolding = false;
  for (const go of held) go();
  held.clear();
  response.writeHead(204).end();
}

function record(row: object): void {
  writeSync(log, `${JSON.stringify({ ...row, at: Date.now() })}\n`);
  fsyncSync(log);
}

function say(line: object): void {
  console.log(JSON.stringify(line));
}
