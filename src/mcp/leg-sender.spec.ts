import type { ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import type { DiscoverResult } from '@modelcontextprotocol/client';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { FaultServer, json, result, rpcError, sse, type Received } from '../../test/harness/fault-server.js';
import { LegSender, type LegRequest, type WireOutcome } from './leg-sender.js';

const sender = new LegSender();
const discover = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } as unknown as DiscoverResult;
const wireId = 'inv_1.1';

const aLeg = (url: string, more: Partial<LegRequest> = {}): LegRequest => ({
  url,
  wireId,
  method: 'tools/call',
  params: { name: 'deploy', arguments: { artifact: 'build-42' } },
  tool: { name: 'deploy', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } },
  discover,
  capabilities: { elicitation: { form: {} } },
  deadlineMs: 10_000,
  maxBytes: 64 * 1024,
  ...more,
});

const complete = { resultType: 'complete', content: [] };

let server: FaultServer;
const against = async (behave: (res: ServerResponse, request: Received) => void, more: Partial<LegRequest> = {}) => {
  server = new FaultServer();
  const url = await server.start(behave);
  return sender.send(aLeg(url, more));
};

afterEach(() => server?.stop());
afterAll(() => sender.close());

describe('a leg that got its answer', () => {
  it('returns the raw result of a JSON response, by one POST under our id', async () => {
    const raw = { ...complete, extra: { deep: [1] }, _meta: { a: 1 } };
    expect(await against((res, { body }) => json(res, 200, result(body.id, raw)))).toEqual({ is: 'answered', result: raw });
    expect(server.received).toHaveLength(1);
    const [{ method, headers, body }] = server.received as [Received];
    const { _meta: meta } = body.params ?? {};
    expect([method, body.id, body.method]).toEqual(['POST', wireId, 'tools/call']);
    expect(meta?.['io.modelcontextprotocol/clientCapabilities']).toEqual({ elicitation: { form: {} } });
    expect(headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'deploy', 'mcp-protocol-version': '2026-07-28' });
    expect(headers['accept-encoding']).toBeUndefined();
  });

  it('returns the raw result of an event stream and asks for no more', async () => {
    const note = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } };
    const outcome = await against((res, { body }) => sse(res, note, result(body.id, complete)).end());
    expect(outcome).toEqual({ is: 'answered', result: complete });
    expect(server.received).toHaveLength(1);
  });

  it('is not disturbed by a flood of progress and log messages before the answer', { timeout: 120_000 }, async () => {
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'mine', progress: 1 } };
    const message = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'still at it' } };
    const flood = Array.from({ length: 10_000 }, (_, index) => (index % 2 === 0 ? progress : message));
    const outcome = await against((res, { body }) => sse(res, ...flood, result(body.id, complete)).end(), {
      maxBytes: 4 * 1024 * 1024,
      deadlineMs: 100_000,
    });
    expect(outcome).toEqual({ is: 'answered', result: complete });
    expect(server.received).toHaveLength(1);
  });

  it('does not wait for the end of a stream that has answered', async () => {
    const outcome = await against((res, { body }) => void sse(res, result(body.id, complete)));
    expect(outcome).toEqual({ is: 'answered', result: complete });
  });

  it('never replies to a request of the server', async () => {
    const asks = { jsonrpc: '2.0', id: 1, method: 'roots/list' };
    const outcome = await against((res, { body }) => sse(res, asks, result(body.id, complete)).end());
    expect(outcome.is).toBe('answered');
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ['a missing resultType', { content: [] }],
    ['an unknown resultType', { resultType: 'task', taskId: 't' }],
    ['an input_required result of a tool with an output schema', { resultType: 'input_required', requestState: '' }],
    ['a state that is no string', { resultType: 'input_required', inputRequests: { a: 5 }, requestState: 5 }],
    ['a result that is not what the method returns', { resultType: 'complete', content: 'nonsense' }],
  ])('leaves %s to be judged raw', async (_, raw) => {
    expect(await against((res, { body }) => json(res, 200, result(body.id, raw)))).toEqual({ is: 'answered', result: raw });
    expect(server.received).toHaveLength(1);
  });

  it('keeps keys such as __proto__, lone surrogates and every byte of a state', async () => {
    const text = String.raw`{"resultType":"input_required","requestState":"a\ud800b\u0000\u2028 é","inputRequests":{"__proto__":{"method":"x"},"":1}}`;
    const outcome = await against((res, { body }) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":"${body.id}","result":${text}}`),
    );
    expect(outcome).toEqual({ is: 'answered', result: JSON.parse(text) });
    const { result: raw } = outcome as Extract<WireOutcome, { is: 'answered' }>;
    expect(Object.keys(raw['inputRequests'] as object)).toEqual(['__proto__', '']);
  });

  it('sends params exactly as they are given', async () => {
    const params = JSON.parse(
      String.raw`{"name":"deploy","arguments":{"__proto__":{"a":1},"n":1.0},"inputResponses":{"__proto__":{"action":"cancel"}},"requestState":"\ud800\u0000é","_meta":{"x":1}}`,
    );
    await against((res, { body }) => json(res, 200, result(body.id, complete)), { params });
    const { _meta, ...sent } = server.received[0]?.body.params ?? {};
    const { _meta: __, ...given } = params;
    expect(JSON.stringify(sent)).toBe(JSON.stringify(given));
    expect(_meta?.['x']).toBe(1);
  });

  it('mirrors the arguments that the tool wants in headers', async () => {
    const inputSchema = { type: 'object' as const, properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    await against((res, { body }) => json(res, 200, result(body.id, complete)), {
      params: { name: 'deploy', arguments: { region: 'eu' } },
      tool: { name: 'deploy', inputSchema },
    });
    expect(server.received[0]?.headers['mcp-param-region']).toBe('eu');
  });

  it('sends its bearer token', async () => {
    await against((res, { body }) => json(res, 200, result(body.id, complete)), { bearer: 'sesame' });
    expect(server.received[0]?.headers.authorization).toBe('Bearer sesame');
  });
});

describe('a leg that the server refused', () => {
  it.each([200, 400, 404, 429, 500, 503])('returns the JSON-RPC error of an HTTP %i', async (status) => {
    const data = { reason: 'invalid_request_state' };
    expect(await against((res, { body }) => json(res, status, rpcError(body.id, -32602, 'no', data)))).toEqual({
      is: 'error',
      code: -32602,
      message: 'no',
      data,
      ...(status !== 200 && { httpStatus: status }),
    });
    expect(server.received).toHaveLength(1);
  });

  it('does not send again after a header mismatch (-32020)', async () => {
    const outcome = await against((res, { body }) => json(res, 400, rpcError(body.id, -32020)));
    expect(outcome).toMatchObject({ is: 'error', code: -32020 });
    expect(server.received).toHaveLength(1);
  });

  it.each([301, 302, 307, 308, 401, 403, 404, 405, 413, 421])('is rejected by an HTTP %i and follows nothing', async (status) => {
    const headers = { location: '/elsewhere', 'www-authenticate': 'Bearer error="insufficient_scope"' };
    const outcome = await against((res) => res.writeHead(status, headers).end('not here'), { bearer: 'sesame' });
    expect(outcome).toEqual({ is: 'rejected', status, message: 'not here' });
    expect(server.received).toHaveLength(1);
  });

  it('is rejected by a 400 whose error is not under our id', async () => {
    const outcome = await against((res) => json(res, 400, rpcError(null, -32700, 'parse error')));
    expect(outcome).toEqual({ is: 'rejected', status: 400, message: 'parse error' });
  });

  it('cuts the words of the server at 8 KiB', async () => {
    const outcome = await against((res) => res.writeHead(404).end('é'.repeat(20_000)));
    expect(Buffer.byteLength((outcome as { message: string }).message)).toBeLessThanOrEqual(8 * 1024 + 2);
  });
});

describe('a leg of which nobody knows', () => {
  it.each<[string, string, (res: ServerResponse, request: Received) => void]>([
    ['a connection that dies after the request was read', 'UND_ERR_SOCKET', (res) => res.socket?.destroy()],
    ['a connection that is reset after the request was read', 'ECONNRESET', (res) => res.socket?.resetAndDestroy()],
    [
      'half a body',
      'UND_ERR_SOCKET',
      (res) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': '999' }).write('{"jsonrpc"');
        setImmediate(() => res.socket?.destroy());
      },
    ],
    ['HTTP 202', 'http_202', (res) => res.writeHead(202).end()],
    ['HTTP 204', 'http_204', (res) => res.writeHead(204).end()],
    ['HTTP 408', 'http_408', (res) => res.writeHead(408).end()],
    ['HTTP 429', 'http_429', (res) => res.writeHead(429).end()],
    ['HTTP 500', 'http_500', (res) => res.writeHead(500).end('oops')],
    ['HTTP 503', 'http_503', (res) => res.writeHead(503, { 'retry-after': '0' }).end()],
    ['a page of HTML', 'response_invalid', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>hi')],
    ['broken JSON', 'response_invalid', (res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{')],
    ['JSON that is no JSON-RPC', 'response_invalid', (res) => json(res, 200, { hello: 1 })],
    ['a notification alone', 'response_invalid', (res) => json(res, 200, { jsonrpc: '2.0', method: 'notifications/x' })],
    ['an empty batch', 'response_invalid', (res) => json(res, 200, [])],
    ['a foreign id', 'response_id_mismatch', (res) => json(res, 200, result('inv_2.1', complete))],
    ['the id of the SDK', 'response_id_mismatch', (res) => json(res, 200, result(0, complete))],
    [
      'a stream that ends without a response',
      'stream_ended',
      (res) => void sse(res, { jsonrpc: '2.0', method: 'notifications/x' }).end(),
    ],
    [
      'a stream that breaks without a response',
      'stream_ended',
      (res) => {
        sse(res, { jsonrpc: '2.0', method: 'notifications/x' });
        setImmediate(() => res.socket?.destroy());
      },
    ],
    [
      'a body that announces too much',
      'response_too_large',
      (res, { body }) => void json(res, 200, result(body.id, { a: 'x'.repeat(70_000) }), { 'content-length': '80000' }),
    ],
    [
      'a body that turns out to be too much',
      'response_too_large',
      (res, { body }) => {
        res
          .writeHead(200, { 'content-type': 'application/json' })
          .write(JSON.stringify(result(body.id, { a: 'x'.repeat(40_000) })));
        res.end(' '.repeat(40_000));
      },
    ],
    [
      'a stream that turns out to be too much',
      'response_too_large',
      (res) => void sse(res, { jsonrpc: '2.0', method: 'x', params: { a: 'x'.repeat(70_000) } }),
    ],
    [
      'a compressed body',
      'response_encoded',
      (res) => res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('x'),
    ],
  ])('is unknown after %s (%s), and is sent once', async (_, reason, behave) => {
    expect(await against(behave)).toEqual({ is: 'unknown', reason });
    expect(server.received).toHaveLength(1);
  });

  it('is unknown past its deadline, whatever trickles in (deadline)', async () => {
    const outcome = await against((res) => void sse(res, { jsonrpc: '2.0', method: 'x' }), { deadlineMs: 100 });
    expect(outcome).toEqual({ is: 'unknown', reason: 'deadline' });
    expect(server.received).toHaveLength(1);
  });

  it('is unknown when a kept connection turns out to be dead', async () => {
    let requests = 0;
    server = new FaultServer();
    const url = await server.start((res, { body }) => {
      requests += 1;
      if (requests === 1) json(res, 200, result(body.id, complete));
      else res.socket?.destroy();
    });
    expect(await sender.send(aLeg(url))).toMatchObject({ is: 'answered' });
    expect(await sender.send(aLeg(url))).toMatchObject({ is: 'unknown' });
    expect(requests).toBe(2);
  });
});

describe('a leg that never left', () => {
  it('is never_sent when the connection is refused (ECONNREFUSED)', async () => {
    const port = await freePort();
    expect(await sender.send(aLeg(`http://127.0.0.1:${port}/mcp`))).toEqual({ is: 'never_sent', proof: 'ECONNREFUSED' });
  });

  it('is never_sent when the name does not resolve', async () => {
    expect(await sender.send(aLeg('http://nowhere.invalid/mcp'))).toMatchObject({ is: 'never_sent' });
  });

  it('is never_sent when TLS cannot be spoken', async () => {
    const tcp = createTcpServer((socket) => socket.on('error', () => {}).end('plain\r\n'));
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as AddressInfo;
    expect(await sender.send(aLeg(`https://127.0.0.1:${port}/mcp`))).toMatchObject({ is: 'never_sent' });
    tcp.close();
  });

  it('is never_sent past its deadline while still connecting, and stays unsent', async () => {
    // A TLS handshake that is never answered: connected, and no byte of HTTP can be written.
    let received = 0;
    const tcp = createTcpServer((socket) => socket.on('data', () => (received += 1)).on('error', () => {}));
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as AddressInfo;
    const outcome = await sender.send(aLeg(`https://127.0.0.1:${port}/mcp`, { deadlineMs: 100 }));
    expect(outcome).toEqual({ is: 'never_sent', proof: 'deadline' });
    expect(received).toBeLessThanOrEqual(1);
    tcp.close();
  });

  it.each([
    ['a URL that is none', { url: 'nonsense' }],
    ['a description that is none', { discover: {} as DiscoverResult }],
    ['a token that fits no header', { bearer: 'a\nb' }],
  ])('is never_sent with %s', async (_, more) => {
    const outcome = await against((res) => json(res, 500, {}), more);
    expect(outcome).toMatchObject({ is: 'never_sent' });
    expect(server.received).toHaveLength(0);
  });
});

async function freePort(): Promise<number> {
  const tcp = createTcpServer();
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  const { port } = tcp.address() as AddressInfo;
  await new Promise((resolve) => tcp.close(resolve));
  return port;
}
