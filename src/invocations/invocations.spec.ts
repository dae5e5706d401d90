import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiInProcess, startApiInProcess } from '../../test/harness/api-in-process.js';
import { scriptedServer, type ScriptedServer, tool } from '../../test/harness/scripted-server.js';
import type { InvocationId } from '../../domain/ids.js';
import { Audit } from '../audit/audit.js';
import { Sealer } from '../crypto/sealer.js';
import { type InvocationRecord, Records } from '../records/records.js';
import type { InvocationBody } from './invocations.contract.js';

/** Tools of the scripted server; a test may add one. No worker runs here: calls stay where the API leaves them. */
const tools = [tool('echo')];
let server: ScriptedServer;
/** Takes connections and says nothing. */
const mute = createServer();
let api: ApiInProcess;
let other: string;

beforeAll(async () => {
  await once(mute.listen(0, '127.0.0.1'), 'listening');
  server = await scriptedServer(
    () => tools,
    (_, reply) => reply.result({}),
  );
  const registered = (id: string, url: string, policy: object = {}) => ({
    id,
    title: id,
    transport: 'streamable-http',
    url,
    policy,
  });
  api = await startApiInProcess({
    servers: [
      registered('scripted', server.url, { maxArgumentsBytes: 4096 }),
      registered('away', 'http://127.0.0.1:1/mcp'),
      registered('mute', `http://127.0.0.1:${(mute.address() as AddressInfo).port}/mcp`),
    ],
  });
  other = `Bearer ${await api.token({ sub: 'user-2' })}`;
});
afterAll(async () => {
  await api.close();
  await server.close();
  mute.close();
});

const echo = { server: 'scripted', method: 'tools/call', params: { name: 'echo', arguments: { text: 'hello' } } };

function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return api.fetch(path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID(), ...headers },
  });
}
const start = (body: unknown, headers: Record<string, string> = {}) => post('/v1/invocations', body, headers);
const bodyOf = async (reply: Response) =>
  (await reply.json()) as InvocationBody & { code: string; errors?: { pointer: string }[] };
const started = async (headers: Record<string, string> = {}, body: unknown = echo) => bodyOf(await start(body, headers));
const records = () => api.app.get(Records);

/** As a worker publishes it. */
async function step(id: string, change: Partial<InvocationRecord>): Promise<void> {
  const record = await records().get('t1', id);
  await records().publish({ ...record!, updatedAt: Date.now(), sequence: 1, ...change });
}

describe('starting a call', () => {
  it('answers 202 while it goes on, and shows it at its address', async () => {
    const reply = await start(echo);
    expect(reply.status).toBe(202);
    const invocation = await bodyOf(reply);
    expect(invocation).toMatchObject({
      status: 'sending',
      outcome: null,
      reason: null,
      server: 'scripted',
      method: 'tools/call',
      name: 'echo',
      subject: 'user-1',
      leg: 1,
      round: 0,
      consent: null,
      deadline: null,
      result: null,
      problem: null,
    });
    const address = reply.headers.get('location') ?? '';
    expect(address).toBe(`/v1/invocations/${invocation.id}`);
    expect(await bodyOf(await api.fetch(address))).toEqual(invocation);
  });

  it('puts the start on the audit record, without arguments', async () => {
    const invocation = await started();
    const { items } = await api.app.get(Audit).list('t1', { limit: 100 });
    const entry = items.find((each) => each.invocation === invocation.id);
    expect(entry).toMatchObject({ type: 'invocation_started', actor: 'user-1', subject: 'user-1', name: 'echo' });
    expect(JSON.stringify(entry)).not.toContain('hello');
  });

  it('waits no longer than the caller prefers', async () => {
    const reply = await start(echo, { prefer: 'wait=1' });
    expect(reply.status).toBe(202);
    expect(reply.headers.get('preference-applied')).toBe('wait=1');
  });

  it('answers as soon as there is an outcome, with the result exactly as it came', async () => {
    const key = randomUUID();
    const invocation = await started({ 'idempotency-key': key });
    const waiting = start(echo, { prefer: 'wait=30' });
    const waited = await untilShown(invocation.id);
    const result = JSON.parse('{"content":[],"constructor":1,"__proto__":{"a":1}}') as unknown;
    const sealed = api.app.get(Sealer).seal(result, { tenant: 't1', invocation: waited.id, field: 'result.1' });
    await step(waited.id, {
      status: 'closed',
      outcome: 'completed',
      reason: 'complete_result',
      result: { in: 'history', sealed, bytes: 10 },
    });
    const reply = await waiting;
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain('"result":{"content":[],"constructor":1,"__proto__":{"a":1}}');
    const alone = await api.fetch(`/v1/invocations/${waited.id}/result`);
    expect(await alone.text()).toBe('{"content":[],"constructor":1,"__proto__":{"a":1}}');
  });

  it('runs on behalf of another subject only when the token allows it (subject_not_allowed)', async () => {
    const body = { ...echo, subject: 'user-9' };
    const refused = await start(body);
    expect([refused.status, (await bodyOf(refused)).code]).toEqual([403, 'subject_not_allowed']);
    const agent = `Bearer ${await api.token({ sub: 'agent', actFor: ['user-9'] })}`;
    expect(await started({ authorization: agent }, body)).toMatchObject({ subject: 'user-9' });
  });

  it('takes a tool that is new on the server', async () => {
    expect(await started({}, { ...echo, params: { name: 'late' } })).toMatchObject({ code: 'tool_unknown' });
    tools.push(tool('late'));
    await expect
      .poll(async () => (await start({ ...echo, params: { name: 'late' } })).status, { timeout: 10_000, interval: 500 })
      .toBe(202);
  });

  it.each(['away', 'mute'])('goes on when a server that is %s cannot be asked for its tools: the worker decides', async (id) => {
    expect((await start({ ...echo, server: id })).status).toBe(202);
  });
});

/** The newest call of user-1 that is not `id`. */
async function untilShown(id: string) {
  let found: Awaited<ReturnType<Records['get']>> = null;
  await expect
    .poll(async () => {
      const [newest] = (await records().list('t1', 'user-1', { limit: 1 })).items;
      found = newest !== undefined && newest.id !== id ? newest : null;
      return found;
    })
    .not.toBeNull();
  return found as unknown as { id: InvocationId };
}

describe('a start that is refused starts nothing', () => {
  const count = async () => (await records().list('t1', 'user-1', { limit: 100 })).items.length;
  const prompt = { server: 'scripted', method: 'prompts/get', params: { name: 'p' } };
  const resource = { server: 'scripted', method: 'resources/read', params: { uri: 'x://y' } };

  it.each([
    ['no object', '[]', 'body_invalid', ['']],
    ['broken JSON', '{"server":', 'malformed_json', []],
    ['an unknown member', { ...echo, tenant: 't2' }, 'body_invalid', ['/tenant']],
    ['an unknown method', { ...echo, method: 'tools/list' }, 'body_invalid', ['/method']],
    ['an unknown param', { ...echo, params: { name: 'echo', requestState: 'x' } }, 'body_invalid', ['/params/requestState']],
    ['params of another method', { ...echo, params: { uri: 'x' } }, 'body_invalid', ['/params/name']],
    [
      'arguments that are no object',
      { ...echo, params: { name: 'echo', arguments: [1] } },
      'body_invalid',
      ['/params/arguments'],
    ],
    [
      'prompt arguments that are no strings',
      { ...prompt, params: { name: 'p', arguments: { a: 1 } } },
      'body_invalid',
      ['/params/arguments'],
    ],
    [
      '_meta that is the protocol’s',
      { ...resource, params: { uri: 'x://y', _meta: { 'io.modelcontextprotocol/x': 1 } } },
      'body_invalid',
      ['/params/_meta'],
    ],
    ['a duration that is none', { ...echo, policy: { roundDeadline: '3 days' } }, 'body_invalid', ['/policy/roundDeadline']],
    ['a duration of nothing', { ...echo, policy: { legDeadline: 'PT0S' } }, 'body_invalid', ['/policy/legDeadline']],
    ['an unknown policy', { ...echo, policy: { maxResultBytes: 1 } }, 'body_invalid', ['/policy/maxResultBytes']],
    ['an unknown server', { ...echo, server: 'nope' }, 'server_unknown', []],
    ['an unknown tool', { ...echo, params: { name: 'nope' } }, 'tool_unknown', []],
    ['a subject that cannot be one', { ...echo, subject: 'a b' }, 'subject_not_allowed', []],
    ['large arguments', { ...echo, params: { name: 'echo', arguments: { text: 'x'.repeat(5000) } } }, 'arguments_too_large', []],
    [
      'half a surrogate pair',
      '{"server":"scripted","method":"tools/call","params":{"name":"echo","arguments":{"a":"\\ud800"}}}',
      'text_not_unicode',
      [],
    ],
    [
      'a member called __proto__',
      '{"server":"scripted","method":"tools/call","params":{"name":"echo","__proto__":{}}}',
      'body_invalid',
      ['/params/__proto__'],
    ],
  ])('%s', async (_, body, code, pointers: string[]) => {
    const before = await count();
    const reply = await start(body);
    const problem = await bodyOf(reply);
    expect(problem.code).toBe(code);
    expect((problem.errors ?? []).map((each) => each.pointer)).toEqual(expect.arrayContaining(pointers));
    expect(await count()).toBe(before);
  });

  it('nesting that has no canonical form (body_invalid)', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const reply = await start(`{"server":"scripted","method":"tools/call","params":{"name":"echo","arguments":{"a":${deep}}}}`);
    expect((await bodyOf(reply)).code).toBe('body_invalid');
  });

  it('no key, an empty one or an endless one (idempotency_key_missing, idempotency_key_invalid)', async () => {
    const init = { method: 'POST', body: JSON.stringify(echo), headers: { 'content-type': 'application/json' } };
    expect(await bodyOf(await api.fetch('/v1/invocations', init))).toMatchObject({ code: 'idempotency_key_missing' });
    expect(await started({ 'idempotency-key': '' })).toMatchObject({ code: 'idempotency_key_invalid' });
    expect(await started({ 'idempotency-key': 'k'.repeat(256) })).toMatchObject({ code: 'idempotency_key_invalid' });
  });
});

describe('a repeated start', () => {
  it('gets the first reply, status and all, also when the call has moved on', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await started(headers);
    await step(first.id, { status: 'awaiting_server', round: 1 });
    const again = await start(echo, headers);
    expect(again.status).toBe(202);
    expect(await bodyOf(again)).toEqual(first);
  });

  it('is the same in any member order, and another one with another body (idempotency_key_reused)', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await started(headers);
    const { server: id, ...rest } = echo;
    expect((await started(headers, { ...rest, server: id })).id).toBe(first.id);
    for (const changed of [
      { ...echo, policy: { maxRounds: 1 } },
      { ...echo, params: { name: 'echo' } },
    ]) {
      const reply = await start(changed, headers);
      expect([reply.status, (await bodyOf(reply)).code]).toEqual([422, 'idempotency_key_reused']);
    }
  });

  it('is another call when another person sends the key', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await started(headers);
    expect((await started({ ...headers, authorization: other })).id).not.toBe(first.id);
  });

  it('at the same time starts one call', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const all = await Promise.all(Array.from({ length: 5 }, () => started(headers)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  });
});
