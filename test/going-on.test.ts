/**
 * Legs that provably did nothing: the server turned them away, or somebody had to act first. The call goes on with the same content in a
 * new leg, and nothing is executed twice.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resumeSignal } from '../workflows/messages.js';
import { accept, answer, asked, auditOf, invocation, outcome, post, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type Call, type Reply, type ScriptedServer } from './harness/scripted-server.js';
import { signal } from './harness/temporal.js';

let parley: Parley;
let scripted: ScriptedServer;
/** What `tools/list` says of `mirrors` right now. */
let mirrored: object;
let hasMoved = false;
let hasDrifted = false;
/** Ends each leg that `guards_late` has not answered yet. */
const refuse: (() => void)[] = [];
let dir: string;
const tokenFile = () => join(dir, 'token');

const form = asking('go', { ok: { type: 'boolean' } });
const yes = { go: { ok: true } };
const question = (requestState: string, inputRequests: object = form) => ({
  resultType: 'input_required',
  inputRequests,
  requestState,
});

function mirrors(type: string, header: string): object {
  return tool('mirrors', { inputSchema: { type: 'object', properties: { where: { type, 'x-mcp-header': header } } } });
}

function misheaded(call: Call, reply: Reply): void {
  reply.raw.writeHead(400, { 'content-type': 'application/json' });
  const error = { code: -32020, message: 'header mismatch' };
  reply.raw.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, error }));
}

function script(call: Call, reply: Reply): void {
  const { name } = call.params as { name: string };
  const isRetry = 'inputResponses' in call.params;
  switch (name) {
    case 'mirrors':
      if (hasMoved && call.headers['mcp-param-place'] === undefined) return misheaded(call, reply);
      return reply.result(done);
    case 'never_fits':
      return misheaded(call, reply);
    case 'fits_later':
      if (isRetry) return misheaded(call, reply);
      return reply.result(question('s'));
    case 'drifts':
      if (!isRetry) return reply.result(question('s'));
      hasDrifted = true;
      return misheaded(call, reply);
    case 'says_so_with_200':
      return reply.error(-32020, 'header mismatch');
    case 'guarded':
      if (call.headers.authorization !== 'Bearer good') return void reply.raw.writeHead(401).end('who?');
      return reply.result(done);
    case 'guards_late':
      if (call.headers.authorization === 'Bearer good') return reply.result(done);
      return void refuse.push(() => reply.raw.writeHead(401).end('who?'));
    case 'guards_the_retry':
      if (!isRetry) return reply.result(question('kept exactly'));
      if (call.headers.authorization !== 'Bearer good') return void reply.raw.writeHead(401).end('who?');
      return reply.result(done);
    case 'forgets_once':
      if (!isRetry) return reply.result(question(`state ${call.n}`));
      if (ownCalls(call).length === 2) return reply.error(-32602, 'expired', { reason: 'invalid_request_state' });
      return reply.result(done);
    case 'forgets_and_asks_anew':
      if (!isRetry) return reply.result(question('s', asking('go', { ok: { type: 'boolean', title: `${call.n}` } })));
      if (ownCalls(call).length === 2) return reply.error(-32602, 'expired', { reason: 'invalid_request_state' });
      return reply.result(done);
    case 'forgets_always':
      if (!isRetry) return reply.result(question('s'));
      return reply.error(-32000, 'session gone');
    default:
      return reply.result(done);
  }
}

const callOf = (id: string): string => id.split('.')[0] ?? '';
const ownCalls = ({ id }: { id: string }): readonly Call[] => scripted.calls.filter((call) => callOf(call.id) === callOf(id));
const sends = (id: string): readonly Call[] => ownCalls({ id });
const resume = (id: string, key: string = `resume ${Math.random()}`) =>
  parley.api(`/v1/invocations/${id}/resume`, { method: 'POST', idempotencyKey: key });

const names = [
  'never_fits',
  'fits_later',
  'says_so_with_200',
  'guarded',
  'guards_late',
  'guards_the_retry',
  'forgets_once',
  'forgets_and_asks_anew',
  'forgets_always',
];

beforeAll(async () => {
  mirrored = mirrors('string', 'Region');
  dir = await mkdtemp(join(tmpdir(), 'parley-going-on-'));
  const drifting = () => tool('drifts', { title: hasDrifted ? 'Now something else' : 'What was agreed to' });
  scripted = await scriptedServer(() => [mirrored, drifting(), ...names.map((name) => tool(name))], script);
  const { url } = scripted;
  parley = await startParley({
    servers: [
      { id: 'scripted', url },
      { id: 'reasking', url, policy: { onStateExpired: 'reask', stateRefusals: [{ code: -32000, message: 'session gone' }] } },
      { id: 'guarded', url, credential: { file: tokenFile() } },
    ],
  });
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  await writeFile(tokenFile(), 'good');
});

describe('a leg refused for its headers (-32020)', () => {
  it('is followed by one with the headers of the definition as it is now [P1]', async () => {
    const call = { server: 'scripted', tool: 'mirrors', arguments: { where: 'eu' } };
    expect(await outcome(parley, await start(parley, call))).toMatchObject({ outcome: 'completed', leg: 1 });
    hasMoved = true;
    mirrored = mirrors('string', 'Place');
    const id = await start(parley, call);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(sends(id).map(({ id: wireId, headers }) => [wireId, headers['mcp-param-region'], headers['mcp-param-place']])).toEqual(
      [
        [`${id}.1`, 'eu', undefined],
        [`${id}.2`, undefined, 'eu'],
      ],
    );
  });

  it('is not repeated for ever: the second refusal fails the call [P1]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'never_fits' });
    const closed = await outcome(parley, id);
    expect(closed).toMatchObject({ outcome: 'failed', reason: 'server_error', leg: 2 });
    expect(closed.problem.detail).toMatchObject({ rpcCode: -32020 });
    expect(sends(id)).toHaveLength(2);
  });

  it('carries the same answer once more [P1] [P3]', async () => {
    const same = await start(parley, { server: 'scripted', tool: 'fits_later' });
    await accept(parley, await asked(parley, same), yes);
    expect(await outcome(parley, same)).toMatchObject({ outcome: 'failed', leg: 3 });
    const [, second, third] = sends(same);
    expect(third?.params['inputResponses']).toEqual(second?.params['inputResponses']);
    expect(third?.params['requestState']).toBe('s');
  });

  it('is not followed by anything when the tool has changed under the person who answered [P1] [P3]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'drifts' });
    await accept(parley, await asked(parley, id), yes);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'binding_lost', reason: 'tool_definition_changed' });
    expect(sends(id)).toHaveLength(2);
  });

  it('that comes with HTTP 200 proves nothing, and is not repeated [P1]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'says_so_with_200' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'failed', reason: 'server_error', leg: 1 });
    expect(sends(id)).toHaveLength(1);
  });
});

describe('a credential that the server refuses', () => {
  it('parks the call; with a new one it is resumed, and the answer it held is sent then [P1] [P3]', async () => {
    const id = await start(parley, { server: 'guarded', tool: 'guards_the_retry' });
    const consent = await asked(parley, id);
    await writeFile(tokenFile(), 'stale');
    await accept(parley, consent, yes);
    await until(async () => (await invocation(parley, id)).reason === 'reauthorization_required');
    expect(await invocation(parley, id)).toMatchObject({ status: 'awaiting_input', outcome: null, consent: null, problem: null });

    await writeFile(tokenFile(), 'good');
    const reply = await resume(id, 'one resume');
    expect(reply.status, reply.text).toBe(202);
    expect((await resume(id, 'one resume')).body.id).toBe(id);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 3 });
    const [, refused, taken] = sends(id);
    expect(taken?.params).toEqual(refused?.params);
    expect(taken?.params).toMatchObject({ requestState: 'kept exactly', inputResponses: { go: { action: 'accept' } } });
    expect(sends(id).map((call) => call.id)).toEqual([`${id}.1`, `${id}.2`, `${id}.3`]);
    const types = (await auditOf(parley, id)).map((event) => event.type);
    expect(types).toEqual(expect.arrayContaining(['call_waiting', 'call_resumed']));
  });

  it('or that cannot be read parks it before anything is sent [P1]', async () => {
    await rm(tokenFile());
    const reply = await post(parley, { server: 'guarded', tool: 'guarded', waitSeconds: 20 });
    expect(reply.body).toMatchObject({ status: 'awaiting_input', reason: 'reauthorization_required', leg: 1 });
    expect(sends(reply.body.id)).toEqual([]);
    await writeFile(tokenFile(), 'good');
    expect((await resume(reply.body.id)).status).toBe(202);
    expect(await outcome(parley, reply.body.id)).toMatchObject({ outcome: 'completed', leg: 1 });
  });

  it('is not taken for renewed because somebody resumed the call before it waited [P1]', async () => {
    await writeFile(tokenFile(), 'stale');
    const id = await start(parley, { server: 'guarded', tool: 'guards_late' });
    await until(() => refuse.length === 1);
    // The API says no to a call that waits for nothing; at Temporal anybody who operates it may say so at any time.
    await signal(id, resumeSignal);
    refuse.splice(0).forEach((end) => end());
    await until(async () => (await invocation(parley, id)).reason === 'reauthorization_required');
    // What follows a resume that counted would be a second leg.
    await sleep(1_500);
    expect(await invocation(parley, id)).toMatchObject({ status: 'awaiting_input', reason: 'reauthorization_required', leg: 1 });
    expect(sends(id)).toHaveLength(1);

    await writeFile(tokenFile(), 'good');
    expect((await resume(id)).status).toBe(202);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(sends(id)).toHaveLength(2);
  });

  it('and that nobody renews ends the call as expired; until then it can be cancelled', async () => {
    await writeFile(tokenFile(), 'stale');
    const [expiring, cancelled] = await Promise.all([
      start(parley, { server: 'guarded', tool: 'guarded', policy: { roundDeadline: 'PT1S' } }),
      start(parley, { server: 'guarded', tool: 'guarded' }),
    ]);
    expect(await outcome(parley, expiring)).toMatchObject({ outcome: 'expired', reason: 'reauthorization_required' });
    await until(async () => (await invocation(parley, cancelled)).reason === 'reauthorization_required');
    await parley.api(`/v1/invocations/${cancelled}/cancel`, { method: 'POST', idempotencyKey: 'give up' });
    expect(await outcome(parley, cancelled)).toMatchObject({ outcome: 'cancelled' });
    for (const id of [expiring, cancelled]) expect(sends(id)).toHaveLength(1);
    const late = await resume(cancelled);
    expect([late.status, late.body.code]).toEqual([409, 'invocation_not_waiting']);
  });
});

describe('a state that the server has forgotten', () => {
  it('is asked for afresh, and the person confirms what they had answered [P1] [P3]', async () => {
    const id = await start(parley, { server: 'reasking', tool: 'forgets_once' });
    const first = await asked(parley, id);
    expect(first.earlier).toBeNull();
    await accept(parley, first, yes);
    const again = await asked(parley, id, 3);
    expect(again.digest).toBe(first.digest);
    expect(again.id).not.toBe(first.id);
    expect(again.earlier).toEqual({ consent: first.id, responses: { go: { action: 'accept', content: { ok: true } } } });
    expect(sends(id)).toHaveLength(3);
    expect(sends(id)[2]?.params).toEqual(sends(id)[0]?.params);

    const stale = await answer(parley, first, { go: { action: 'accept', content: { ok: true } } });
    expect(stale.status).toBe(409);
    await accept(parley, again, yes);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 4 });
    expect(sends(id)[3]?.params['requestState']).toBe(`state ${sends(id)[2]?.n}`);
  });

  it('offers no earlier answer to another question', async () => {
    const id = await start(parley, { server: 'reasking', tool: 'forgets_and_asks_anew' });
    await accept(parley, await asked(parley, id), yes);
    const again = await asked(parley, id, 3);
    expect(again.earlier).toBeNull();
    await accept(parley, again, yes);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 4 });
  });

  it('by a sign of the server’s own, and again and again, ends the call as state_expired', async () => {
    const id = await start(parley, { server: 'reasking', tool: 'forgets_always' });
    for (const round of [1, 3, 5]) await accept(parley, await asked(parley, id, round), yes);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'state_expired', leg: 6 });
    expect(sends(id)).toHaveLength(6);
  });

  it('is not asked for afresh once the person has declined [P3] [P6]', async () => {
    const id = await start(parley, { server: 'reasking', tool: 'forgets_once' });
    expect((await answer(parley, await asked(parley, id), { go: { action: 'decline' } })).status).toBe(200);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'state_expired', leg: 2 });
    expect(sends(id)).toHaveLength(2);
  });

  it('ends the call at once where the policy does not say otherwise', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'forgets_once' });
    await accept(parley, await asked(parley, id), yes);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'state_expired', leg: 2 });
  });
});
