/** Outcomes and reasons that no other file reaches, each judged by the API and by what the server received (design §3, §4). */

import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { accept, answer, asked, invocation, outcome, post, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';

let parley: Parley;
let scripted: ScriptedServer;

const form = asking('go', { ok: { type: 'boolean' } });
const number = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };

beforeAll(async () => {
  const names = ['misfit', 'shared_state', 'constant_state', 'forgets', 'demands', 'http_400', 'asks', 'polls'];
  scripted = await scriptedServer(
    names.map((name) => tool(name, name === 'misfit' ? { outputSchema: number } : {})),
    (call, reply) => {
      const isRetry = 'requestState' in call.params;
      switch ((call.params as { name: string }).name) {
        case 'misfit':
          return reply.result({ ...done, structuredContent: { n: 'seven' } });
        case 'shared_state':
          return reply.result({
            resultType: 'input_required',
            inputRequests: form,
            requestState: 'the same for everybody, and long enough to be somebody’s',
          });
        case 'constant_state':
          return reply.result({ resultType: 'input_required', inputRequests: form, requestState: 'page 2' });
        case 'forgets':
          if (isRetry) return reply.error(-32602, 'no such state', { reason: 'invalid_request_state' });
          return reply.result({ resultType: 'input_required', inputRequests: form, requestState: 'short-lived' });
        case 'demands':
          return reply.error(-32021, 'needs more', { requiredCapabilities: { sampling: {} } });
        case 'http_400':
          return void reply.raw.writeHead(400).end('no');
        case 'asks':
          return reply.result({ resultType: 'input_required', inputRequests: form });
        default:
          return reply.result({ resultType: 'input_required', requestState: 'later' });
      }
    },
  );
  parley = await startParley({
    servers: [
      { id: 'scripted', url: scripted.url },
      { id: 'patient', url: scripted.url, policy: { pollInitial: 'PT1H', pollMax: 'PT1H' } },
      {
        id: 'absent',
        url: 'http://127.0.0.1:9/mcp',
        policy: { connectBackoffInitial: 'PT1H', connectBackoffMax: 'PT1H' },
      },
    ],
  });
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
});

const sends = (id: string): number => scripted.calls.filter((call) => call.id.startsWith(id)).length;

describe('what the server answers', () => {
  it.each([
    ['misfit', { outcome: 'failed', reason: 'output_invalid' }],
    ['demands', { outcome: 'failed', reason: 'missing_client_capability' }],
    ['http_400', { outcome: 'failed', reason: 'http_rejected' }],
  ])('%s ends the call as %o, with the server’s own words and one send [P1]', async (name, ending) => {
    const reply = await post(parley, { server: 'scripted', tool: name, waitSeconds: 20 });
    expect(reply.body).toMatchObject({ ...ending, leg: 1, result: null });
    expect(reply.body.problem).toMatchObject({ reason: ending.reason, detail: { message: expect.any(String) } });
    expect(sends(reply.body.id)).toBe(1);
  });

  it('a refused state ends the call as state_expired: nobody’s answer is used for a fresh call [P3]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'forgets' });
    await accept(parley, await asked(parley, id), { go: { ok: true } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'state_expired', reason: 'request_state_refused', leg: 2 });
    expect(sends(id)).toBe(2);
  });

  it('a state that somebody else was given is refused before anybody is asked (state_foreign) [P3] [P4]', async () => {
    const mine = await start(parley, { server: 'scripted', tool: 'shared_state' });
    await asked(parley, mine);
    const theirs = await post(parley, {
      server: 'scripted',
      tool: 'shared_state',
      as: { tenant: 't2', sub: 'user-1' },
      waitSeconds: 20,
    });
    expect(theirs.body).toMatchObject({ outcome: 'refused', reason: 'state_foreign', leg: 1 });
  });

  it('a state too short to be anybody’s may be given to everybody', async () => {
    for (const tenant of ['t1', 't2']) {
      const reply = await post(parley, { server: 'scripted', tool: 'constant_state', as: { tenant }, waitSeconds: 20 });
      expect(reply.body).toMatchObject({ status: 'awaiting_input', round: 1 });
    }
  });
});

describe('the call’s own deadline', () => {
  it.each([
    ['while the server says “not yet”', { server: 'patient', tool: 'polls' }],
    ['while the server cannot be reached', { server: 'absent', tool: 'any' }],
  ])('ends it %s (expired, call_deadline)', async (_when, wish) => {
    const id = await start(parley, { ...wish, policy: { callDeadline: 'PT1S' } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'expired', reason: 'call_deadline' });
    expect(sends(id)).toBeLessThanOrEqual(1);
  });
});

describe('what a call was bound to', () => {
  it('a server that moved closes its parked calls (server_changed), and a repeated start still gets its first reply [P1]', async () => {
    const wish = { server: 'scripted', tool: 'asks', key: 'before the move' };
    const first = await post(parley, wish);
    const consent = await asked(parley, first.body.id);
    await parley.register([{ id: 'scripted', url: scripted.url.replace('127.0.0.1', 'localhost') }]);
    await Promise.all([parley.restartApi(), parley.restartWorker()]);
    const reply = await answer(parley, consent, { go: { action: 'accept', content: { ok: true } } });
    expect([reply.status, reply.body.code]).toEqual([409, 'binding_lost']);
    expect(await outcome(parley, first.body.id)).toMatchObject({ outcome: 'binding_lost', reason: 'server_changed' });
    expect(sends(first.body.id)).toBe(1);

    await parley.register([]);
    await parley.restartApi();
    expect((await post(parley, { ...wish, key: 'another' })).body.code).toBe('server_unknown');
    const again = await post(parley, wish);
    expect(again.status, again.text).toBe(202);
    expect(again.body).toEqual(first.body);
  }, 60_000);

  it('a store that lost its ledger closes its calls, and nothing is sent (ledger_lost) [P1]', async () => {
    await parley.register([{ id: 'scripted', url: scripted.url }]);
    await Promise.all([parley.restartApi(), parley.restartWorker()]);
    const id = await start(parley, { server: 'scripted', tool: 'asks' });
    const consent = await asked(parley, id);
    const redis = createClient({ url: inject('redisUrl') });
    await redis.connect();
    const prefix = parley.env['PARLEY_REDIS_PREFIX'];
    const lost = [`${prefix}:epoch`, ...(await redis.keys(`${prefix}:ledger:*`))];
    expect(lost.length).toBeGreaterThan(1);
    await redis.del(lost);
    await redis.close();
    await accept(parley, consent, { go: { ok: true } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'binding_lost', reason: 'ledger_lost', leg: 2 });
    expect(sends(id)).toBe(1);
    // A new call is bound to the new ledger.
    const next = await start(parley, { server: 'scripted', tool: 'asks' });
    await until(async () => (await invocation(parley, next)).status === 'awaiting_input');
  }, 60_000);
});
