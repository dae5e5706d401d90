/** Bad input: a problem with a stable code, never a stack trace, and nothing is started (RFC 9457). */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asked, post, start, type CallWish } from './harness/conversation.js';
import { startParley, type Parley, type Who } from './harness/parley.js';
import type { RestReply } from '../tools/rest.js';

let parley: Parley;
beforeAll(async () => {
  parley = await startParley({ policy: { maxArgumentsBytes: 1_000 } });
});
afterAll(async () => parley?.stop());

function expectProblem(reply: RestReply, status: number, code: string): void {
  expect(reply.status, reply.text).toBe(status);
  expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(reply.body).toMatchObject({ status, code, type: `urn:parley:problem:${code}`, title: expect.any(String) });
  expect(reply.body.advice.length).toBeGreaterThan(10);
  expect(reply.text).not.toMatch(/node_modules|\.ts:\d|\.js:\d|at \w+ \(/);
}

const echo = { server: 'example', method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } };
const raw = (body: unknown, more: { key?: string | null; as?: Who; text?: string; headers?: Record<string, string> } = {}) =>
  parley.api('/v1/invocations', {
    ...(more.text === undefined ? { body } : { text: more.text, method: 'POST' }),
    ...(more.key === null ? {} : { idempotencyKey: more.key ?? randomUUID() }),
    ...(more.as !== undefined && { as: more.as }),
    ...(more.headers !== undefined && { headers: more.headers }),
  });

describe('POST /v1/invocations', () => {
  const before = async () => (await parley.api('/v1/invocations?limit=100')).body.items.length;

  it.each<[string, () => Promise<RestReply>, number, string]>([
    ['malformed JSON', () => raw(null, { text: '{"server":' }), 400, 'malformed_json'],
    [
      'no JSON at all',
      () => raw(null, { text: 'hello', headers: { 'content-type': 'text/plain' } }),
      415,
      'unsupported_media_type',
    ],
    ['an unknown member', () => raw({ ...echo, tenant: 't2' }), 400, 'body_invalid'],
    ['a wrong type', () => raw({ ...echo, server: 5 }), 400, 'body_invalid'],
    ['an unknown method', () => raw({ ...echo, method: 'tools/list' }), 400, 'body_invalid'],
    ['params of another method', () => raw({ ...echo, params: { uri: 'x://y' } }), 400, 'body_invalid'],
    ['answers smuggled into params', () => raw({ ...echo, params: { ...echo.params, inputResponses: {} } }), 400, 'body_invalid'],
    ['a state smuggled into params', () => raw({ ...echo, params: { ...echo.params, requestState: 's' } }), 400, 'body_invalid'],
    ['no Idempotency-Key', () => raw(echo, { key: null }), 400, 'idempotency_key_missing'],
    ['an Idempotency-Key of 256 characters', () => raw(echo, { key: 'k'.repeat(256) }), 400, 'idempotency_key_invalid'],
    ['an unknown server', () => raw({ ...echo, server: 'nowhere' }), 422, 'server_unknown'],
    ['an unknown tool', () => raw({ ...echo, params: { name: 'nothing' } }), 422, 'tool_unknown'],
    [
      'arguments over the cap',
      () => raw({ ...echo, params: { name: 'echo', arguments: { text: 'x'.repeat(1_000) } } }),
      413,
      'arguments_too_large',
    ],
    [
      'half a surrogate pair',
      () => raw(null, { text: JSON.stringify({ ...echo, params: { name: 'echo', arguments: { text: 'a\ud800' } } }) }),
      422,
      'text_not_unicode',
    ],
    ['a duration with months', () => raw({ ...echo, policy: { roundDeadline: 'P1M' } }), 400, 'body_invalid'],
    ['a subject that is not the caller’s to act for', () => raw({ ...echo, subject: 'user-2' }), 403, 'subject_not_allowed'],
    ['no token', () => raw(echo, { as: null }), 401, 'token_missing'],
    ['an expired token', () => raw(echo, { as: { ttlSeconds: -10 } }), 401, 'token_expired'],
    ['a token of another issuer', () => raw(echo, { as: { issuer: 'urn:somebody-else' } }), 401, 'token_invalid'],
    ['a token for another audience', () => raw(echo, { as: { audience: 'another' } }), 401, 'token_invalid'],
    ['a token without the scope', () => raw(echo, { as: { scopes: ['consents:read'] } }), 403, 'scope_missing'],
  ])('refuses %s, and starts nothing', async (_what, send, status, code) => {
    const calls = await before();
    expectProblem(await send(), status, code);
    expect(await before()).toBe(calls);
    expect(parley.example.effects().requests.filter((request) => request.method === 'tools/call')).toEqual([]);
  });

  it('refuses a used Idempotency-Key with another body (idempotency_key_reused)', async () => {
    const wish: CallWish = { method: 'prompts/get', params: { name: 'briefing', arguments: { topic: 'a' } }, key: 'one key' };
    const first = await post(parley, wish);
    expect(first.status).toBe(202);
    expectProblem(
      await post(parley, { ...wish, params: { name: 'briefing', arguments: { topic: 'b' } } }),
      422,
      'idempotency_key_reused',
    );
    expect((await post(parley, wish)).body).toEqual(first.body);
    // A key belongs to its caller: another one's is another key.
    expect((await post(parley, { ...wish, as: { sub: 'user-3' } })).body.id).not.toBe(first.body.id);
  });
});

describe('everything else', () => {
  it.each<[string, string, number, string]>([
    ['an unknown route', '/v1/nothing', 404, 'route_unknown'],
    ['an unknown call', `/v1/invocations/inv_${'0'.repeat(32)}`, 404, 'invocation_unknown'],
    ['an id that is none', '/v1/invocations/..%2f..%2fetc', 404, 'invocation_unknown'],
    ['an unknown consent', `/v1/consents/cns_${'0'.repeat(32)}`, 404, 'consent_unknown'],
    ['an unknown receipt', `/v1/receipts/rct_${'0'.repeat(32)}`, 404, 'receipt_unknown'],
    ['a made-up cursor', '/v1/invocations?cursor=abc', 422, 'cursor_invalid'],
    ['a wrong query', '/v1/invocations?limit=-1', 400, 'query_invalid'],
  ])('refuses %s', async (_what, path, status, code) => {
    expectProblem(await parley.api(path), status, code);
  });

  it('hides another tenant’s call, result and consent behind 404', async () => {
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'x' } });
    const consent = await asked(parley, id);
    for (const as of [{ tenant: 't2' }, { sub: 'user-9' }]) {
      expectProblem(await parley.api(`/v1/invocations/${id}`, { as }), 404, 'invocation_unknown');
      expectProblem(await parley.api(`/v1/invocations/${id}/result`, { as }), 404, 'invocation_unknown');
      expectProblem(await parley.api(`/v1/consents/${consent.id}`, { as }), 404, 'consent_unknown');
      expect((await parley.api('/v1/consents', { as })).body.items).toEqual([]);
      expect((await parley.api('/v1/invocations', { as })).body.items).toEqual([]);
    }
  });

  it('opens health to everybody, and nothing else', async () => {
    expect((await parley.api('/health/live', { as: null })).status).toBe(200);
    expect((await parley.api('/health/ready', { as: null })).status).toBe(200);
    for (const path of ['/v1/invocations', '/v1/consents', '/v1/servers', '/v1/audit', '/openapi.json', '/docs', '/nowhere']) {
      expectProblem(await parley.api(path, { as: null }), 401, 'token_missing');
    }
  });
});
