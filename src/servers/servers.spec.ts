/** Who may use which server, as the routes of the API show it. No worker runs here. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiInProcess, startApiInProcess } from '../../test/harness/api-in-process.js';
import { FaultServer } from '../../test/harness/fault-server.js';
import { scriptedServer, type ScriptedServer, tool } from '../../test/harness/scripted-server.js';
import type { TokenWish } from '../../tools/dev-token.js';

let server: ScriptedServer;
let api: ApiInProcess;
const guarded = new FaultServer();
beforeAll(async () => {
  const guardedUrl = await guarded.start((response) => response.writeHead(401).end());
  server = await scriptedServer([tool('echo')], (_, reply) => reply.result({}));
  const registered = (id: string, access?: object) => ({
    ...{ id, title: id, transport: 'streamable-http', url: server.url },
    ...(access !== undefined && { access }),
  });
  const ofT4 = { tenants: ['t4'] };
  api = await startApiInProcess({
    servers: [
      registered('open'),
      registered('theirs', { tenants: ['t2', 't3'] }),
      registered('some', { tenants: ['t1'], subjects: ['user-1'] }),
      registered('agents', { requesters: ['agent-1'] }),
      { ...registered('guarded', ofT4), url: guardedUrl },
      { ...registered('keyless', ofT4), credential: { file: '/does/not/exist' } },
    ],
  });
});
afterAll(async () => {
  await api.close();
  await server.close();
  guarded.stop();
});

// oxlint-disable-next-line typescript/no-explicit-any
async function as(who: Partial<TokenWish>, path: string, init: RequestInit = {}): Promise<any> {
  const headers = { ...init.headers, authorization: `Bearer ${await api.token(who)}` };
  return (await api.fetch(path, { ...init, headers })).json();
}

function start(who: Partial<TokenWish>, id: string, subject?: string) {
  const body = { server: id, method: 'tools/call', params: { name: 'echo' }, ...(subject !== undefined && { subject }) };
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  return as(who, '/v1/invocations', { method: 'POST', body: JSON.stringify(body), headers });
}

const me = { sub: 'user-1' };
const agent = { sub: 'agent-1', actFor: ['*'] };

describe('a server that is not open to a tenant', () => {
  it('does not exist for it: it is not listed, has no tools, and cannot be called', async () => {
    const ids = async (who: object) => (await as(who, '/v1/servers')).items.map((item: { id: string }) => item.id);
    expect(await ids(me)).toEqual(['open', 'some', 'agents']);
    expect(await ids({ tenant: 't2' })).toEqual(['open', 'theirs', 'agents']);
    const absent = await as(me, '/v1/servers/theirs/tools');
    expect(absent).toEqual(await as(me, '/v1/servers/nowhere/tools'));
    expect(absent.code).toBe('server_absent');
    expect(await start(me, 'theirs')).toEqual(await start(me, 'nowhere'));
    expect(await start(me, 'theirs')).toMatchObject({ status: 422, code: 'server_unknown' });
  });

  it('is one like any other for those that may', async () => {
    expect((await as({ tenant: 't2' }, '/v1/servers/theirs/tools')).items).toHaveLength(1);
    expect(await start({ tenant: 't3' }, 'theirs')).toMatchObject({ status: 'sending' });
  });
});

describe('a server that some people may use', () => {
  it('is called on their behalf alone, whoever asks (server_not_allowed)', async () => {
    expect(await start(me, 'some')).toMatchObject({ status: 'sending' });
    expect(await start(agent, 'some', 'user-1')).toMatchObject({ status: 'sending', subject: 'user-1' });
    for (const refused of [start(agent, 'some'), start(agent, 'some', 'user-2'), start({ sub: 'user-2' }, 'some')]) {
      expect(await refused).toMatchObject({ status: 403, code: 'server_not_allowed', detail: 'subject' });
    }
  });

  it('or is called by some alone, on whose behalf they may (server_not_allowed)', async () => {
    expect(await start(agent, 'agents', 'user-2')).toMatchObject({ status: 'sending' });
    expect(await start(me, 'agents')).toMatchObject({ status: 403, code: 'server_not_allowed', detail: 'requester' });
    expect(await start({ sub: 'agent-1' }, 'agents', 'user-2')).toMatchObject({ code: 'subject_not_allowed' });
  });
});

describe('a server whose credential is of no use', () => {
  it.each([
    ['guarded', 'unauthorized'],
    ['keyless', 'credential_missing'],
  ])('does not show its tools, and nobody is told to repeat (%s: %s)', async (id, detail) => {
    const headers = { authorization: `Bearer ${await api.token({ tenant: 't4' })}` };
    const reply = await api.fetch(`/v1/servers/${id}/tools`, { headers });
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([502, null]);
    const problem = (await reply.json()) as { advice: string };
    expect(problem).toMatchObject({ code: 'reauthorization_required', detail });
    expect(problem.advice).toContain('renew the credential');
  });
});

describe('a hold', () => {
  const operator = { sub: 'operator-1', scopes: ['calls:operate', 'servers:operate'] };
  const hold = (who: object, what: string) => as(who, `/v1/holds/${what}`, { method: 'PUT' });
  const servers = async (who: object) => (await as(who, '/v1/holds')).servers;

  it('on a server says who set it to their own tenant alone', async () => {
    expect(await hold(operator, 'servers/open')).toMatchObject({ heldBy: 'operator-1' });
    const stranger = { ...operator, tenant: 't2' };
    expect(await servers(stranger)).toMatchObject([{ server: 'open', heldBy: null }]);
    expect(await hold(stranger, 'servers/open')).toMatchObject({ heldBy: null });
    expect(await servers(operator)).toMatchObject([{ server: 'open', heldBy: 'operator-1' }]);
    expect(await hold(operator, 'tenant')).toMatchObject({ heldBy: 'operator-1' });
    expect((await as(operator, '/v1/holds')).tenant).toMatchObject({ heldBy: 'operator-1' });
  });

  it('on a server that does not exist for a tenant is shown to those alone who operate servers', async () => {
    await hold(operator, 'servers/theirs');
    const ids = async (who: object) => (await servers(who)).map((held: { server: string }) => held.server);
    expect(await ids({ ...operator, scopes: ['calls:operate'] })).not.toContain('theirs');
    expect(await ids(operator)).toContain('theirs');
  });
});
