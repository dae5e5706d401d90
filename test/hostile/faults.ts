/** HTTP, as no honest server speaks it. Whatever is neither an answer nor proof of a refusal is `indeterminate`, and nothing is sent again. */

import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { done } from '../harness/scripted-server.js';
import { checkbox, completed, go, indeterminate, misfit, outwaited, rejected, type Ending, type HostileCase } from './case.js';
import { replyWith, type Leg } from './server.js';

const mebibyte = 1024 * 1024;
/** Far above the 4 MiB that the policy allows. */
const floodBytes = 300 * mebibyte;
/** For what never ends by itself. */
const impatient = { policy: { legDeadline: 'PT1S' }, endsWithinMs: 20_000 };

const json = 'application/json';
const eventStream = 'text/event-stream';
const answered = (id: unknown, result: object = done) => JSON.stringify({ jsonrpc: '2.0', id, result });
const one = { resultType: 'complete', content: [{ type: 'text', text: 'one' }] };

const fault = (
  name: string,
  behave: (response: ServerResponse, leg: Leg) => void,
  ends: Ending = indeterminate,
  more: Partial<HostileCase> = {},
): HostileCase => ({
  name,
  serves: (leg) => behave(leg.response, leg),
  ends,
  legs: 1,
  ...more,
});

const status = (code: number, ends: Ending, headers: Record<string, string> = {}) =>
  fault(`http-${code}`, (response) => void response.writeHead(code, headers).end('no'), ends);

const statuses: HostileCase[] = [
  ...[202, 204, 408, 429, 500, 502, 504].map((code) => status(code, indeterminate)),
  status(503, indeterminate, { 'retry-after': '0' }),
  ...[304, 400, 403, 404, 405, 421].map((code) => status(code, rejected(code))),
  fault('http-301-elsewhere', (response, { elsewhere }) => redirect(response, 301, elsewhere), rejected(301)),
  fault('http-307-to-itself', (response) => redirect(response, 307, '/mcp'), rejected(307)),
  fault('http-307-elsewhere', (response, { elsewhere }) => redirect(response, 307, elsewhere), rejected(307)),
  fault(
    'http-401-with-challenge',
    (response, { elsewhere }) => {
      const challenge = `Bearer resource_metadata="${elsewhere}/.well-known/oauth-protected-resource"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
    },
    outwaited,
    { policy: { callDeadline: 'PT4S' } },
  ),
  fault(
    'http-403-with-challenge',
    (response, { elsewhere }) => {
      const challenge = `Bearer error="insufficient_scope", scope="all", resource_metadata="${elsewhere}/meta"`;
      response.writeHead(403, { 'www-authenticate': challenge }).end();
    },
    rejected(403),
  ),
  fault(
    'header-mismatch-error',
    (response, { id }) => {
      const error = { code: -32020, message: 'headers' };
      response.writeHead(400, { 'content-type': json }).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    },
    { outcome: 'failed', reason: 'server_error', detail: { rpcCode: -32020 } },
    { legs: 2 },
  ),
];

const envelopes: HostileCase[] = [
  fault('page-of-html', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hi')),
  fault('no-content-type', (response, { id }) => void response.writeHead(200).end(answered(id))),
  fault('empty-body', (response) => replyWith(response, '')),
  fault('broken-json', (response) => replyWith(response, '{"jsonrpc":"2.0",')),
  fault('json-that-is-no-json-rpc', (response) => replyWith(response, '{"hello":1}')),
  fault('id-of-another-call', (response) => replyWith(response, answered('inv_00000000000000000000000000000000.1'))),
  fault('id-null', (response) => replyWith(response, answered(null))),
  fault('id-numeric', (response) => replyWith(response, answered(0))),
  fault('id-missing', (response) => replyWith(response, JSON.stringify({ jsonrpc: '2.0', result: done }))),
  fault('id-in-an-array', (response, { id }) => replyWith(response, answered([id]))),
  fault('error-with-id-null', (response) => {
    replyWith(response, JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'parse error' } }));
  }),
  fault('result-that-is-text', (response, { id }) => replyWith(response, JSON.stringify({ jsonrpc: '2.0', id, result: 'done' }))),
  fault('result-beside-an-error', (response, { id }) => {
    replyWith(response, JSON.stringify({ jsonrpc: '2.0', id, result: one, error: { code: 1, message: 'no' } }));
  }),
  fault('error-with-huge-code', (response, { id }) => {
    replyWith(response, `{"jsonrpc":"2.0","id":"${id}","error":{"code":1e999,"message":"no"}}`);
  }),
  fault(
    'error-nested-100000-deep',
    (response, { id }) => {
      const data = '['.repeat(100_000) + ']'.repeat(100_000);
      replyWith(response, `{"jsonrpc":"2.0","id":"${id}","error":{"code":-32000,"message":"no","data":${data}}}`);
    },
    { outcome: 'failed', reason: 'server_error', detail: { message: 'no', rpcCode: -32000 } },
  ),
  fault(
    'invalid-utf-8',
    (response, { id }) => {
      const text = answered(id, { resultType: 'complete', content: [{ type: 'text', text: 'broken: \u00ff' }] });
      replyWith(response, Buffer.from(text, 'latin1'));
    },
    { ...completed, result: { content: [{ type: 'text', text: 'broken: \ufffd' }] } },
  ),
];

const bodies: HostileCase[] = [
  fault('reset-before-the-first-byte', (response) => void response.socket?.resetAndDestroy()),
  fault('reset-after-the-headers', (response) => {
    response.writeHead(200, { 'content-type': json }).flushHeaders();
    setImmediate(() => response.socket?.resetAndDestroy());
  }),
  fault('reset-after-half-a-body', (response, { id }) => {
    const text = answered(id);
    response.writeHead(200, { 'content-type': json, 'content-length': String(text.length) });
    response.write(text.slice(0, text.length / 2));
    setTimeout(() => response.socket?.resetAndDestroy(), 50);
  }),
  fault(
    'whole-answer-in-a-body-that-never-ends',
    (response, { id }) => {
      response.writeHead(200, { 'content-type': json }).write(answered(id));
    },
    indeterminate,
    impatient,
  ),
  fault('silence', () => {}, indeterminate, impatient),
  fault(
    'slow-drip',
    (response, { id }) => {
      response.writeHead(200, { 'content-type': json });
      drip(response, answered(id), 100);
    },
    indeterminate,
    impatient,
  ),
  fault('300-mebibytes-announced', (response, { id }) => {
    flood(response, { 'content-type': json, 'content-length': String(floodBytes) }, answered(id).slice(0, -1));
  }),
  fault('300-mebibytes-unannounced', (response, { id }) => {
    flood(response, { 'content-type': json }, answered(id).slice(0, -1));
  }),
  fault('300-mebibytes-of-a-refusal', (response) => flood(response, { 'content-type': json }, '"', 400), rejected(400)),
  fault(
    '300-mebibytes-of-a-refusal-announced',
    (response) => flood(response, { 'content-length': String(floodBytes) }, '"', 403),
    rejected(403),
  ),
  fault(
    'refusal-that-is-compressed',
    (response) => void response.writeHead(404, { 'content-encoding': 'br' }).end('x'),
    rejected(404),
  ),
  fault('result-over-4-mebibytes', (response, { id }) => {
    replyWith(response, answered(id, { ...done, _meta: { a: 'x'.repeat(4 * mebibyte) } }));
  }),
  fault('gzip-bomb', (response) => replyWith(response, bomb(), { 'content-encoding': 'gzip' })),
  fault('no-http-at-all', (response) => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n')),
  fault(
    'headers-without-end',
    (response) => {
      response.socket?.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => response.socket?.write(`x-${Date.now()}: ${'y'.repeat(1_000)}\r\n`), 10);
      response.on('close', () => clearInterval(timer));
    },
    indeterminate,
    impatient,
  ),
];

const streams: HostileCase[] = [
  fault(
    'stream-of-comments',
    (response) => {
      response.writeHead(200, { 'content-type': eventStream });
      const timer = setInterval(() => response.write(': still here\n\n'), 50);
      response.on('close', () => clearInterval(timer));
    },
    indeterminate,
    impatient,
  ),
  fault('stream-that-floods', (response) => flood(response, { 'content-type': eventStream }, ':')),
  fault('stream-without-a-response', (response) =>
    stream(response, { jsonrpc: '2.0', method: 'notifications/progress', params: {} }).end(),
  ),
  fault('stream-that-resets', (response) => {
    stream(response, { jsonrpc: '2.0', method: 'notifications/x' });
    setTimeout(() => response.socket?.resetAndDestroy(), 50);
  }),
  fault('stream-with-event-ids-that-ends', (response) => {
    response.writeHead(200, { 'content-type': eventStream });
    response.end('id: 1\nretry: 10\ndata:\n\nid: 2\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n');
  }),
  fault(
    'stream-with-event-ids-and-an-answer',
    (response, { id }) => {
      response.writeHead(200, { 'content-type': eventStream });
      response.end(`id: 1\nretry: 10\ndata:\n\nid: 2\ndata: ${answered(id)}\n\n`);
    },
    completed,
  ),
  fault('stream-with-broken-json', (response) => {
    response.writeHead(200, { 'content-type': eventStream }).end('data: {"jsonrpc":\n\n');
  }),
  fault(
    'stream-with-broken-json-and-an-answer',
    (response, { id }) => {
      response.writeHead(200, { 'content-type': eventStream }).end(`data: {"jsonrpc":\n\ndata: ${answered(id)}\n\n`);
    },
    completed,
  ),
  fault(
    'stream-with-two-responses',
    (response, { id }) => {
      const second = { jsonrpc: '2.0', id, result: go(checkbox) };
      stream(response, JSON.parse(answered(id, one)), second).end();
    },
    { ...completed, result: one },
  ),
  fault('stream-with-a-foreign-response-first', (response, { id }) => {
    stream(response, JSON.parse(answered('inv_0.1')), JSON.parse(answered(id))).end();
  }),
  fault(
    'stream-with-requests-of-the-server',
    (response, { id }) => {
      const params = { mode: 'form', message: 'psst', requestedSchema: { type: 'object', properties: {} } };
      const asks = ['elicitation/create', 'sampling/createMessage', 'roots/list', 'ping'].map((method, n) => ({
        jsonrpc: '2.0',
        id: n,
        method,
        params,
      }));
      stream(response, ...asks, JSON.parse(answered(id))).end();
    },
    completed,
  ),
  fault(
    'stream-with-log-of-the-server',
    (response, { id }) => {
      const data = 'x'.repeat(100_000);
      stream(
        response,
        { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'emergency', data } },
        JSON.parse(answered(id)),
      ).end();
    },
    completed,
  ),
  fault(
    'stream-nested-100000-deep',
    (response, { id }) => {
      const deep = '['.repeat(100_000) + ']'.repeat(100_000);
      response.writeHead(200, { 'content-type': eventStream });
      response.end(`data: {"jsonrpc":"2.0","id":"${id}","result":{"resultType":"complete","content":[],"deep":${deep}}}\n\n`);
    },
    misfit,
  ),
];

export const faults: readonly HostileCase[] = [...statuses, ...envelopes, ...bodies, ...streams];

function redirect(response: ServerResponse, code: number, location: string): void {
  response.writeHead(code, { location }).end();
}

function stream(response: ServerResponse, ...events: unknown[]): ServerResponse {
  response.writeHead(200, { 'content-type': eventStream });
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  return response;
}

/** As much as the client takes, up to {@link floodBytes}, and never more of it in memory than one chunk. */
function flood(response: ServerResponse, headers: Record<string, string>, start: string, code = 200): void {
  const chunk = Buffer.alloc(64 * 1024, ' ');
  function* chunks(): Generator<Buffer> {
    yield Buffer.from(start);
    for (let sent = 0; sent < floodBytes; sent += chunk.length) yield chunk;
  }
  response.writeHead(code, headers);
  Readable.from(chunks())
    .on('error', () => {})
    .pipe(response);
}

function drip(response: ServerResponse, text: string, everyMs: number): void {
  let at = 0;
  const timer = setInterval(() => response.write(text[at++ % text.length]), everyMs);
  response.on('close', () => clearInterval(timer));
}

/** 300 MiB of blanks, in a third of a megabyte. */
function bomb(): Buffer {
  const member = gzipSync(Buffer.alloc(floodBytes / 30, ' '));
  return Buffer.concat(Array.from({ length: 30 }, () => member));
}
