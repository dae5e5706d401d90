import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCodecRelay, type CodecRelay } from './codec-relay.js';
import { DevSecrets } from './dev-secrets.js';
import { freePort } from './ports.js';

const ui = 'http://127.0.0.1:8233';
let relay: CodecRelay;
let relayUrl: string;
let seen: IncomingHttpHeaders[] = [];
const dir = await mkdtemp(join(tmpdir(), 'parley-relay-'));
const api = createServer((request, response) => {
  seen.push(request.headers);
  response.setHeader('content-type', 'application/json').end('{"payloads":[]}');
});

beforeAll(async () => {
  await new Promise<void>((listening) => api.listen(0, '127.0.0.1', listening));
  const port = await freePort();
  relayUrl = `http://127.0.0.1:${port}`;
  const apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  relay = await startCodecRelay(port, ui, apiUrl, await DevSecrets.in(dir));
});
afterAll(async () => {
  await relay.stop();
  api.close();
  await rm(dir, { recursive: true });
});

async function ask(origin: string | undefined, path: string, method = 'POST'): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(origin === undefined ? {} : { origin }) };
  return await fetch(`${relayUrl}${path}`, { method, headers, ...(method === 'POST' ? { body: '{"payloads":[]}' } : {}) });
}

describe('the codec relay', () => {
  it('opens payloads for the Temporal UI with a token that can do nothing else', async () => {
    seen = [];
    const reply = await ask(ui, '/codec/decode');
    expect(await reply.json()).toEqual({ payloads: [] });
    expect(reply.headers.get('access-control-allow-origin')).toBe(ui);
    expect(decodeJwt(seen[0]!.authorization!.replace('Bearer ', '')).scope).toBe('codec:decode');
  });

  it('answers the preflight of the UI', async () => {
    const reply = await ask(ui, '/codec/decode', 'OPTIONS');
    expect([reply.status, reply.headers.get('access-control-allow-headers')]).toEqual([204, 'content-type, x-namespace']);
  });

  it.each([
    ['another origin', 'http://evil.example', '/codec/decode'],
    ['no origin', undefined, '/codec/decode'],
    ['another route of the API', ui, '/v1/invocations'],
  ])('refuses %s and asks the API nothing', async (_what, origin, path) => {
    seen = [];
    expect((await ask(origin, path)).status).toBe(403);
    expect(seen).toEqual([]);
  });
});
