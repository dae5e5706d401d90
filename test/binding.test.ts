/**
 * What a call was bound to changes while it is parked (design §4): the answer is refused when it arrives, the question is withdrawn, and nothing
 * is sent. What changes after the answer is found before the next leg.
 */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import { KeyRingCodec } from '../src/crypto/codec.js';
import { dataConverterFor } from '../src/crypto/data-converter.js';
import { KeyRing } from '../src/crypto/key-ring.js';
import { connectRedis } from '../src/store/redis.js';
import { accept, answer, asked, auditOf, invocation, outcome, post, start } from './harness/conversation.js';
import { silentLog } from './harness/fresh-store.js';
import { startParley, until, type Parley, type WrittenServer } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';
import { temporalClient } from './harness/temporal.js';

type Change = Partial<WrittenServer>;

let parley: Parley;
let scripted: ScriptedServer;
/** What was registered last, by id. All of it is one MCP server. */
const registered = new Map<string, Change>();

const yes = { go: { action: 'accept', content: { ok: true } } };
const agent = { sub: 'agent-1', actFor: ['*'] };
const sends = (id: string): number => scripted.calls.filter((call) => call.id.startsWith(id)).length;
const servers = (): WrittenServer[] => [...registered].map(([id, more]) => ({ id, url: scripted.url, ...more }));

/** For whichever process starts after this. */
async function change(changes: Readonly<Record<string, Change>>): Promise<void> {
  for (const [id, more] of Object.entries(changes)) registered.set(id, { ...registered.get(id), ...more });
  await parley.register(servers());
}

/** A call that is parked over its question. */
async function park(server: string, name = 'asks'): Promise<{ id: string; consent: any }> {
  const id = await start(parley, { server, tool: name, subject: 'user-1', as: agent });
  return { id, consent: await asked(parley, id) };
}

const losing: readonly [server: string, reason: string, to: Change][] = [
  ['policy', 'policy_changed', { policy: { version: '2' } }],
  ['tenant', 'principal_not_allowed', { access: { tenants: ['t2'] } }],
  ['subject', 'principal_not_allowed', { access: { tenants: ['t1'], subjects: ['user-2'] } }],
  ['requester', 'principal_not_allowed', { access: { requesters: ['agent-2'] } }],
  ['registration', 'server_changed', { url: 'http://127.0.0.1:9/mcp' }],
];
const slowly = { pollInitial: 'PT20S', pollMax: 'PT20S' };
const polling: typeof losing = [
  ['polled-policy', 'policy_changed', { policy: { ...slowly, version: '2' } }],
  ['polled-access', 'principal_not_allowed', { access: { tenants: ['t2'] } }],
];
const parked = new Map<string, { id: string; consent: any }>();

beforeAll(async () => {
  scripted = await scriptedServer([tool('asks'), tool('asks_then_polls')], ({ params }, reply) => {
    if (!('inputResponses' in params) && !('requestState' in params)) {
      return reply.result({ resultType: 'input_required', inputRequests: asking('go', { ok: { type: 'boolean' } }) });
    }
    if (params['name'] === 'asks_then_polls') return reply.result({ resultType: 'input_required', requestState: 'later' });
    return reply.result(done);
  });
  for (const [server] of losing) registered.set(server, {});
  for (const [server] of polling) registered.set(server, { policy: slowly });
  for (const server of ['api-first', 'worker-first', 'pending']) registered.set(server, {});
  registered.set('steady', { policy: { version: '1' } });
  parley = await startParley({ servers: servers() });

  for (const server of [...losing.map(([name]) => name), 'steady']) parked.set(server, await park(server));
  for (const [server] of polling) {
    const call = await park(server, 'asks_then_polls');
    await accept(parley, call.consent, { go: { ok: true } });
    await until(async () => (await invocation(parley, call.id)).status === 'awaiting_server');
    parked.set(server, call);
  }
  const access = { tenants: ['t1'], subjects: ['user-1'], requesters: ['agent-1'] };
  const steady = { title: 'Renamed', policy: { version: '1', roundDeadline: 'PT1M', maxRounds: 1 }, access };
  const changes = [...losing, ...polling].map(([server, , to]) => [server, to] as const);
  await change({ ...Object.fromEntries(changes), steady });
  await Promise.all([parley.restartApi(), parley.restartWorker()]);
}, 120_000);
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
});

describe('while a person thinks', () => {
  it.each(losing)(
    'the %s changes: the answer is refused, the question withdrawn, nothing sent (%s) [P1] [P3]',
    async (server, reason) => {
      const { id, consent } = parked.get(server)!;
      const how = { key: 'once' };
      const reply = await answer(parley, consent, yes, how);
      expect([reply.status, reply.body.code, reply.body.detail], reply.text).toEqual([409, 'binding_lost', reason]);
      expect(await outcome(parley, id)).toMatchObject({ outcome: 'binding_lost', reason, consent: null });
      expect((await parley.api(`/v1/consents/${consent.id}`)).body).toMatchObject({ status: 'withdrawn' });
      expect((await answer(parley, consent, yes, how)).body.code).toBe('consent_withdrawn');
      expect(sends(id)).toBe(1);

      const events = await auditOf(parley, id);
      expect(events).toContainEqual(expect.objectContaining({ type: 'answer_refused', code: 'binding_lost', reason }));
      expect(events.at(-2)).toMatchObject({ type: 'invocation_closed', outcome: 'binding_lost', reason });
      expect(events.map(({ type }) => type)).not.toContain('answer_accepted');
    },
  );

  it('title and deadlines change, and access that still has them: the answer is taken and sent [P2]', async () => {
    const { id, consent } = parked.get('steady')!;
    await accept(parley, consent, { go: { ok: true } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
  });
});

it.each(polling)(
  'after the answer, %s of a call that polls: the next leg is not sent (%s) [P1]',
  async (server, reason) => {
    const { id } = parked.get(server)!;
    expect(await outcome(parley, id, 40_000)).toMatchObject({ outcome: 'binding_lost', reason, leg: 3 });
    expect(sends(id)).toBe(2);
  },
  60_000,
);

describe('while a deployment is under way', () => {
  it('and the API alone has the new registry, the question stays open, its call is told once a minute, and ends when its worker knows [P3]', async () => {
    const { id, consent } = await park('api-first');
    await change({ 'api-first': { policy: { version: 'new' } } });
    await parley.restartApi();
    for (const _ of [1, 2, 3]) expect((await answer(parley, consent, yes)).body.code).toBe('binding_lost');
    await until(async () => (await signals(id)) > 0);
    expect(await invocation(parley, id)).toMatchObject({ status: 'awaiting_input', consent: consent.id });
    expect(await signals(id)).toBe(1);

    await parley.restartWorker();
    // As if the minute were over.
    const redis = await connectRedis(inject('redisUrl'), silentLog);
    expect(await redis.del(`${parley.env['PARLEY_REDIS_PREFIX']}:binding-doubt:t1:${id}`)).toBe(1);
    redis.destroy();
    expect((await answer(parley, consent, yes)).body).toMatchObject({ code: 'binding_lost', detail: 'policy_changed' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'binding_lost', reason: 'policy_changed' });
    expect(sends(id)).toBe(1);
  }, 60_000);

  it('and the worker alone has the new registry, the answer is accepted, and lost before its leg [P1]', async () => {
    const { id, consent } = await park('worker-first');
    await change({ 'worker-first': { access: { subjects: ['user-2'] } } });
    await parley.restartWorker();
    await accept(parley, consent, { go: { ok: true } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'binding_lost', reason: 'principal_not_allowed' });
    expect(sends(id)).toBe(1);
  }, 60_000);

  it('an answer that was given before, and not judged yet, stays the workflow’s to judge [P2] [P3]', async () => {
    const { id, consent } = await park('pending');
    await parley.process('worker').stop();
    const how = { key: 'before the change' };
    expect((await answer(parley, consent, yes, how)).body).toMatchObject({ verdict: 'pending' });
    await change({ pending: { policy: { version: 'later' } } });
    await parley.restartApi();
    expect((await answer(parley, consent, yes, how)).body).toMatchObject({ verdict: 'pending' });
    expect((await answer(parley, consent, yes, { key: 'another' })).body.code).toBe('binding_lost');
    await parley.start('worker');
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'binding_lost', reason: 'policy_changed' });
    expect((await answer(parley, consent, yes, how)).body).toMatchObject({ verdict: 'accepted' });
    expect(sends(id)).toBe(1);
  }, 60_000);
});

it('the workflow replays a history in which it was told so and ended', async () => {
  const { id } = parked.get('policy')!;
  await outcome(parley, id);
  const keys = await readFile(parley.env['PARLEY_CODEC_KEYS_FILE'] ?? '', 'utf8');
  const bundle = { codePath: resolve(import.meta.dirname, '../dist/workflow-bundle.js') };
  const dataConverter = dataConverterFor(new KeyRingCodec(KeyRing.parse(keys.trim())));
  const history = await until(async () => {
    const events = await historyOf(id);
    return events.events?.at(-1)?.workflowExecutionCompletedEventAttributes ? events : undefined;
  });
  expect(signalsIn(history)).toBe(1);
  await Worker.runReplayHistory({ workflowBundle: bundle, dataConverter }, history, workflowId('t1', id as InvocationId));
});

it('a call is started only for a tenant that may use the server [P1]', async () => {
  expect((await post(parley, { server: 'tenant', tool: 'asks' })).body).toMatchObject({ code: 'server_unknown' });
  const theirs = await post(parley, { server: 'tenant', tool: 'asks', as: { tenant: 't2' }, waitSeconds: 20 });
  expect(theirs.body, theirs.text).toMatchObject({ status: 'awaiting_input' });
});

/** How often the call was told to look at itself. */
async function signals(id: string): Promise<number> {
  // Long enough for one that is on its way.
  await sleep(500);
  return signalsIn(await historyOf(id));
}

type History = Awaited<ReturnType<typeof historyOf>>;

async function historyOf(id: string) {
  const temporal = await temporalClient();
  const history = await temporal.workflow.getHandle(workflowId('t1', id as InvocationId)).fetchHistory();
  await temporal.connection.close();
  return history;
}

function signalsIn({ events }: History): number {
  const names = events?.map(({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName) ?? [];
  return names.filter((name) => name === 'refresh').length;
}
