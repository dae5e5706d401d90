import { createHmac, generateKeyPairSync } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiInProcess, startApiInProcess } from '../test/harness/api-in-process.js';
import { devAudience, devIssuer } from '../tools/dev-secrets.js';
import { type ProblemCode, problemCodes } from '../domain/codes.js';
import { publicPaths } from './auth/authenticate.js';
import { describeApi } from './openapi/openapi.js';
import { routeLayersOf } from './problems/allowed-methods.js';

let api: ApiInProcess;
beforeAll(async () => {
  api = await startApiInProcess({
    servers: [{ id: 'away', title: 'Away', transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' }],
  });
});
afterAll(() => api.close());

/** The path goes out as it is written: `fetch` would resolve it first. */
async function statusOf(url: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ hostname, port, path }, resolve).on('error', reject);
  });
  reply.resume();
  return reply.statusCode;
}

/** What a refusal says, once it is shown to be a problem that is well formed and gives nothing away. */
async function problemIn(reply: Response): Promise<Record<string, unknown> & { code: ProblemCode }> {
  const text = await reply.text();
  expect(reply.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(text).not.toMatch(/\bat .*[.]js|node_modules|stack/);
  const body = JSON.parse(text) as { code: ProblemCode };
  const { status, title, advice } = problemCodes[body.code];
  expect(body).toMatchObject({ type: `urn:parley:problem:${body.code}`, status, title, advice });
  expect(reply.status).toBe(status);
  return body;
}
const codeOf = async (reply: Response | Promise<Response>) => (await problemIn(await reply)).code;

describe('who may come in', () => {
  const withToken = (token: string) => api.fetch('/v1/servers', { headers: { authorization: `Bearer ${token}` } });
  const claims = { tenant: 't1', scope: 'calls:write' };
  const unsigned = () =>
    new UnsecuredJWT(claims).setSubject('user-1').setIssuer(devIssuer).setAudience(devAudience).setExpirationTime('1h');

  it('lets a token of the issuer with the scope in', async () => {
    expect((await api.fetch('/v1/servers')).status).toBe(200);
  });

  it('asks for a token (token_missing)', async () => {
    for (const authorization of ['', 'Basic dTpw', 'Bearer']) {
      const reply = await fetch(`${api.url}/v1/servers`, { headers: { authorization } });
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
      expect(await codeOf(reply)).toBe('token_missing');
    }
  });

  it('refuses an expired token (token_expired)', async () => {
    const reply = await withToken(await api.token({ ttlSeconds: -1 }));
    expect(reply.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    expect(await codeOf(reply)).toBe('token_expired');
  });

  it('refuses a token of another issuer or for another audience (token_invalid)', async () => {
    expect(await codeOf(withToken(await api.token({ issuer: 'urn:other' })))).toBe('token_invalid');
    expect(await codeOf(withToken(await api.token({ audience: 'other' })))).toBe('token_invalid');
  });

  it('refuses a token without signature, with a stranger’s, or with a public key as shared secret (token_invalid)', async () => {
    expect(await codeOf(withToken(unsigned().encode()))).toBe('token_invalid');

    const stranger = generateKeyPairSync('ed25519').privateKey;
    const forged = new SignJWT(claims).setSubject('user-1').setIssuer(devIssuer).setAudience(devAudience).setExpirationTime('1h');
    expect(await codeOf(withToken(await forged.setProtectedHeader({ alg: 'EdDSA', kid: 'issuer-1' }).sign(stranger)))).toBe(
      'token_invalid',
    );

    const { x } = await api.secrets.issuerKey();
    const head = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'issuer-1' })).toString('base64url');
    const body = unsigned().encode().split('.')[1];
    const mac = createHmac('sha256', Buffer.from(x ?? '', 'base64url'))
      .update(`${head}.${body}`)
      .digest('base64url');
    expect(await codeOf(withToken(`${head}.${body}.${mac}`))).toBe('token_invalid');
  });

  it('refuses a tenant or subject that could not be part of a key (token_invalid)', async () => {
    expect(await codeOf(withToken(await api.token({ tenant: 'a/b' })))).toBe('token_invalid');
    expect(await codeOf(withToken(await api.token({ sub: 'x'.repeat(129) })))).toBe('token_invalid');
  });

  it('names the scope that is missing (scope_missing)', async () => {
    const reply = await withToken(await api.token({ scopes: ['audit:read'] }));
    expect(await problemIn(reply)).toMatchObject({ code: 'scope_missing', detail: 'needs calls:write or consents:read' });
  });

  it('does not tell routes apart for a stranger, nor read a body of theirs', async () => {
    expect(await codeOf(fetch(`${api.url}/no/such/route`))).toBe('token_missing');
    const post = { method: 'POST', body: '{"broken', headers: { 'content-type': 'application/json' } };
    expect(await codeOf(fetch(`${api.url}/codec/decode`, post))).toBe('token_missing');
  });

  it.each([
    ['true', 200],
    ['false', 401],
    ['', 200],
  ])(
    'has the description open to a browser in development, unless PARLEY_OPEN_DOCS says otherwise (%s)',
    async (open, status) => {
      const other = await startApiInProcess({ env: { PARLEY_OPEN_DOCS: open } });
      try {
        for (const path of ['/docs', '/docs/swagger-ui-init.js', '/openapi.json'])
          expect((await fetch(other.url + path)).status, path).toBe(status);
        for (const path of ['/docsx', '/openapi.json/x', '/v1/servers?/docs'])
          expect(await statusOf(other.url, path), path).toBe(401);
        // No route is found under a path that climbs: it is never resolved.
        expect(await statusOf(other.url, '/docs/../v1/servers')).toBe(open === 'false' ? 401 : 404);
      } finally {
        await other.close();
      }
    },
  );

  it('opens health to everybody', async () => {
    expect(await (await fetch(`${api.url}/health/live`)).json()).toEqual({ status: 'live' });
  });
});

describe('how it says no', () => {
  let authorization: string;
  beforeAll(async () => {
    authorization = `Bearer ${await api.token({ scopes: ['codec:decode'] })}`;
  });
  const decode = (body: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
    api.fetch('/codec/decode', { method: 'POST', body, headers: { authorization, 'content-type': type } });

  it('refuses what is no JSON, quoting none of it (malformed_json)', async () => {
    for (const text of ['{"canary-1', '[canary-1]', 'canary-1']) {
      const body = await problemIn(await decode(text));
      expect(body.code).toBe('malformed_json');
      expect(JSON.stringify(body)).not.toContain('canary');
    }
  });

  it('points at a member of a wrong type (body_invalid)', async () => {
    const body = await problemIn(await decode('{"payloads":[{"data":7}]}'));
    expect(body.code).toBe('body_invalid');
    expect(body['errors']).toEqual([expect.objectContaining({ pointer: '/payloads/0/data', code: 'type_wrong' })]);
    expect(await codeOf(decode('"text"'))).toBe('body_invalid');
    expect(await codeOf(decode(''))).toBe('body_invalid');
  });

  it('takes nothing but JSON in UTF-8 (unsupported_media_type)', async () => {
    expect(await codeOf(decode('a=b', 'application/x-www-form-urlencoded'))).toBe('unsupported_media_type');
    expect(await codeOf(decode('{}', 'application/json; charset=latin1'))).toBe('unsupported_media_type');
  });

  it('takes no body without bound (body_too_large)', async () => {
    expect(await codeOf(decode(new Uint8Array(20 * 1024 * 1024 + 1)))).toBe('body_too_large');
  });

  it('answers 404 for a route there is not (route_unknown)', async () => {
    expect(await codeOf(api.fetch('/v1/nothing'))).toBe('route_unknown');
    expect(await codeOf(api.fetch('/v1/%ff'))).toBe('route_unknown');
  });

  it('answers 405 with the methods there are (method_not_allowed)', async () => {
    const reply = await api.fetch('/v1/servers', { method: 'DELETE' });
    expect(reply.headers.get('allow')).toBe('GET');
    expect(await codeOf(reply)).toBe('method_not_allowed');
  });

  it('answers 500 without a word about what failed (internal)', async () => {
    const { Servers } = await import('./servers/servers.service.js');
    const servers = api.app.get(Servers, { strict: false });
    const list = servers.list;
    servers.list = () => {
      throw new Error('canary-2');
    };
    try {
      const body = await problemIn(await api.fetch('/v1/servers'));
      expect(body.code).toBe('internal');
      expect(JSON.stringify(body)).not.toContain('canary');
    } finally {
      servers.list = list;
    }
  });

  it('survives a request that is no HTTP', async () => {
    const port = Number(new URL(api.url).port);
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('NOT HTTP\r\n\r\n'));
      socket.on('data', (data) => resolve(String(data))).on('error', reject);
    });
    expect(reply).toMatch(/^HTTP\/1.1 400/);
  });
});

describe('servers', () => {
  it('lists what is registered, without URL or credential', async () => {
    const reply = await api.fetch('/v1/servers');
    expect(await reply.json()).toEqual({
      items: [{ id: 'away', title: 'Away', transport: 'streamable-http', origin: 'http://127.0.0.1:1' }],
    });
    expect(reply.headers.get('cache-control')).toBe('no-store');
  });

  it('says that a server is not registered (server_absent) or does not answer (server_unavailable)', async () => {
    expect(await codeOf(api.fetch('/v1/servers/other/tools'))).toBe('server_absent');
    const reply = await api.fetch('/v1/servers/away/tools');
    expect(reply.headers.get('retry-after')).toBe('10');
    expect(await problemIn(reply)).toMatchObject({ code: 'server_unavailable', detail: 'unreachable' });
  });
});

describe('the description', () => {
  /** Every route express has, as OpenAPI writes it. */
  const routes = () =>
    routeLayersOf(api.app.getHttpAdapter().getInstance()).flatMap(({ route }) =>
      route === undefined || /^\/(docs|openapi[.])/.test(String(route.path))
        ? []
        : Object.keys(route.methods).map((method) => `${method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`),
    );

  it('names every route, and no other', () => {
    const document = describeApi(api.app);
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(routes().length).toBeGreaterThan(5);
    expect(described.sort()).toEqual([...new Set(routes())].sort());
  });

  it('gives every operation a summary, and a bearer token to every one but health', () => {
    for (const [path, item] of Object.entries(describeApi(api.app).paths)) {
      for (const operation of Object.values(item)) {
        expect(operation.summary, path).toBeTruthy();
        expect(operation.security !== undefined, path).toBe(!publicPaths.has(path));
      }
    }
  });

  it('names every code that a caller may be told, and not the one that none is', async () => {
    const { components } = (await (await api.fetch('/openapi.json')).json()) as {
      components: { schemas: { Problem: { properties: { code: { enum: string[] } } } } };
    };
    const named = components.schemas.Problem.properties.code.enum;
    expect([...named, 'answer_foreign'].sort()).toEqual(Object.keys(problemCodes).sort());
  });

  it('is served as OpenAPI 3.1', async () => {
    const document = (await (await api.fetch('/openapi.json')).json()) as { openapi: string };
    expect(document.openapi).toBe('3.1.0');
    const { Validator } = await import('@seriousme/openapi-schema-validator');
    expect(await new Validator().validate(document)).toEqual({ valid: true });
  });
});
