import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../tools/until.js';
import { FaultServer, json, result, rpcError } from '../../test/harness/fault-server.js';
import { push, sessionOf, type SessionScript } from '../../test/harness/legacy-faults.js';
import { mcpAgent } from './http-exchange.js';
import { LegacySession } from './legacy-session.js';
import { WireProof } from './wire-proof.js';

const agent = mcpAgent();
const proof = new WireProof();
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

async function begun(script: SessionScript): Promise<{ session: LegacySession; server: FaultServer; ends: string[] }> {
  const server = new FaultServer();
  const url = await server.start(sessionOf(script));
  undo.push(() => server.stop());
  const endpoint = { id: 'old', url, key: 'k', bearer: 'first' };
  const binding = { queue: 'q', leaseMs: 1_000 };
  const capabilities = { elicitation: { form: {} } };
  const options = { agent, proof, endpoint, capabilities, maxResultBytes: 100_000, binding, onDescribed: () => undefined };
  const session = new LegacySession(options);
  undo.push(async () => {
    session.stop();
    await session.gone;
  });
  const ends: string[] = [];
  void session.ended.then((why) => ends.push(why));
  return { session, server, ends };
}

function leg(session: LegacySession, number: number, inputResponses?: object, deadlineMs = 20_000) {
  const params = { name: 'go', arguments: {}, ...(inputResponses !== undefined && { inputResponses }) };
  const capabilities = { elicitation: { form: {} } };
  return session.send({ wireId: `inv_1.${number}`, method: 'tools/call', params, capabilities, deadlineMs, maxBytes: 100_000 });
}

const ask = (id: string | number) => ({ id, method: 'elicitation/create', params: { message: `question ${id}` } });
const done = (callId: string, more: object = {}) => ({ id: callId, result: { content: [], ...more } });
const question = (id: string | number) => {
  const { id: _, ...request } = ask(id);
  return { is: 'answered', result: { resultType: 'input_required', inputRequests: { [String(id)]: request } } };
};
const gone = { is: 'never_sent', proof: 'connection_lost' };
const yes = { action: 'accept', content: {} };

describe('a session of MCP 2025-11-25', () => {
  it('asks one question after another, and answers each under its own id', async () => {
    let stream: ServerResponse | undefined;
    const { session, server, ends } = await begun({
      onCall: (res) => push((stream = res), ask(0), ask('b'), { method: 'notifications/message', params: {} }),
      onAnswer: (res, { body }) => {
        if (body.id === 'b' && stream !== undefined) push(stream, done('inv_1.1', { resultType: 'input_required' }));
        res.writeHead(202).end();
      },
    });
    const { tools } = await session.describe();
    expect([...tools.keys()]).toEqual(['go']);
    expect(await leg(session, 1)).toEqual(question(0));
    expect(await leg(session, 2, { 0: yes })).toEqual(question('b'));
    // What the present revision reads into a result means nothing here.
    expect(await leg(session, 3, { b: { action: 'decline' } })).toEqual({ is: 'answered', result: { content: [] } });
    expect(ends).toEqual(['answered']);
    await session.gone;
    const answers = server.received.filter(({ body }) => 'result' in body).map(({ body }) => body);
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 0, result: yes },
      { jsonrpc: '2.0', id: 'b', result: { action: 'decline' } },
    ]);
    const later = server.received.filter(({ body }) => body.method !== 'initialize');
    for (const { headers } of later) {
      expect(headers).toMatchObject({
        'mcp-session-id': 'session-1',
        'mcp-protocol-version': '2025-11-25',
        authorization: 'Bearer first',
      });
    }
    expect(server.received.at(-1)?.method).toBe('DELETE');
    expect(server.received.map(({ body }) => body.method)).not.toContain('notifications/cancelled');
  });

  it.each([
    ['with the result, in one piece', (res: ServerResponse) => json(res, 200, result('inv_1.1', { content: [] })), 'answered'],
    ['with a refusal', (res: ServerResponse) => json(res, 401, rpcError(null, -32000)), 'stream_ended'],
    ['by breaking off', (res: ServerResponse) => res.destroy(), 'stream_ended'],
  ])('is asked over the other stream before its call is answered %s', async (_what, conclude, why) => {
    let other: ServerResponse | undefined;
    let call: ServerResponse | undefined;
    const { session, server, ends } = await begun({
      onListen: (res) => (other = res.writeHead(200, { 'content-type': 'text/event-stream' })).flushHeaders(),
      onCall: (res) => {
        call = res;
        if (other !== undefined) push(other, ask(1));
      },
      onAnswer: (res) => {
        res.writeHead(202).end();
        if (call !== undefined) conclude(call);
      },
    });
    await session.describe();
    expect(await leg(session, 1)).toEqual(question(1));
    const { is } = await leg(session, 2, { 1: yes });
    expect([is, ends]).toEqual([why === 'answered' ? 'answered' : 'unknown', [why]]);
    expect(server.received.filter(({ body }) => body.method === 'tools/call')).toHaveLength(1);
    expect(await leg(session, 3, { 1: yes })).toEqual(gone);
  });

  it.each([
    ['the result right behind', [ask(1), done('inv_1.1')], 'answered'],
    ['more questions than can be asked', Array.from({ length: 30 }, (_, id) => ask(id)), 'too_many_questions'],
    ['its withdrawal', [ask(1), { method: 'notifications/cancelled', params: { requestId: 1 } }], 'withdrawn'],
  ])('is lost by a question with %s', async (_what, messages, why) => {
    const { session, ends } = await begun({ onCall: (res) => push(res, ...messages) });
    let isTold = false;
    await session.describe();
    session.watch(() => (isTold = true));
    expect(await leg(session, 1)).toMatchObject({ is: 'answered' });
    await until(() => (ends.length > 0 ? true : undefined));
    expect([ends, isTold]).toEqual([[why], true]);
    expect(await leg(session, 2, { 1: yes, 0: yes })).toEqual(gone);
  });

  it('does not hear what comes after the result', async () => {
    const { session, server, ends } = await begun({
      onCall: (res) => push(res, done('inv_1.1'), ask(1), { id: 2, method: 'ping' }),
    });
    await session.describe();
    expect(await leg(session, 1)).toEqual({ is: 'answered', result: { content: [] } });
    await session.gone;
    expect(ends).toEqual(['answered']);
    expect(server.received.filter(({ body }) => 'result' in body)).toEqual([]);
  });

  it.each<[string, (call: ServerResponse) => void]>([
    ['fails', (call) => void call.writeHead(500).end()],
    ['breaks the connection', (call) => call.destroy()],
    ['answers without a response', (call) => json(call, 200, { jsonrpc: '2.0', method: 'notifications/message' })],
    ['says too much', (call) => json(call, 200, result('inv_1.1', { text: 'x'.repeat(200_000) }))],
  ])('is lost while a person thinks when the call, not answered yet, then %s', async (_what, conclude) => {
    let stream: ServerResponse | undefined;
    let call: ServerResponse | undefined;
    const { session, ends } = await begun({
      onListen: (res) => push((stream = res)),
      onCall: (res) => {
        call = res;
        if (stream !== undefined) push(stream, ask(1));
      },
    });
    await session.describe();
    expect(await leg(session, 1)).toEqual(question(1));
    if (call !== undefined) conclude(call);
    await until(() => (ends.length > 0 ? true : undefined));
    expect(ends).toEqual(['stream_ended']);
    expect(await leg(session, 2, { 1: yes })).toEqual(gone);
  });

  it('is kept when the credential is refused, and goes on with another', async () => {
    let stream: ServerResponse | undefined;
    const { session, server } = await begun({
      onCall: (res) => push((stream = res), { id: 9, method: 'ping' }, ask(1)),
      onAnswer: (res, { headers, body }) => {
        if (body.id === 9) return void res.writeHead(202).end();
        if (headers.authorization !== 'Bearer second') return json(res, 401, rpcError(null, -32000));
        res.writeHead(202).end();
        if (stream !== undefined) push(stream, done('inv_1.1'));
      },
    });
    await session.describe();
    expect(await leg(session, 1)).toEqual(question(1));
    expect(await leg(session, 2, { 1: yes })).toMatchObject({ is: 'rejected', status: 401 });
    session.use({ id: 'old', url: 'http://127.0.0.1', key: 'k', bearer: 'second' });
    expect(await leg(session, 3, { 1: yes })).toEqual({ is: 'answered', result: { content: [] } });
    const pongs = server.received.filter(({ body }) => body.id === 9);
    expect(pongs.map(({ body }) => body)).toEqual([{ jsonrpc: '2.0', id: 9, result: {} }]);
  });

  it.each([
    [
      'does not know it any more',
      (res: ServerResponse) => void res.writeHead(404).end(),
      { is: 'rejected', status: 404 },
      'forgotten',
    ],
    ['breaks the connection', (res: ServerResponse) => res.destroy(), { is: 'unknown' }, 'unclear'],
    ['fails', (res: ServerResponse) => void res.writeHead(500).end(), { is: 'unknown', reason: 'http_500' }, 'unclear'],
  ])('is over when the server %s as it is answered', async (_what, onAnswer, outcome, why) => {
    const { session, ends } = await begun({ onCall: (res) => push(res, ask(1)), onAnswer });
    await session.describe();
    await leg(session, 1);
    expect(await leg(session, 2, { 1: yes })).toMatchObject(outcome);
    expect(ends).toEqual([why]);
    expect(await leg(session, 3, { 1: yes })).toEqual(gone);
  });

  it.each([
    ['says nothing until the deadline', () => undefined, 'deadline'],
    [
      'ends the stream',
      (res: ServerResponse) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
      'stream_ended',
    ],
    ['says too much', (res: ServerResponse) => push(res, done('inv_1.1', { text: 'x'.repeat(200_000) })), 'response_too_large'],
    ['answers somebody else', (res: ServerResponse) => push(res, done('inv_2.1')), 'response_id_mismatch'],
  ])('is over when the server %s', async (_what, onCall, reason) => {
    const { session, server, ends } = await begun({ onCall });
    await session.describe();
    expect(await leg(session, 1, undefined, 1_000)).toEqual({ is: 'unknown', reason });
    await session.gone;
    expect(ends).toHaveLength(1);
    expect(server.received.at(-1)?.method).toBe('DELETE');
  });

  it('cannot be answered where the server gives no session', async () => {
    const { session } = await begun({ hasSession: false, onCall: (res) => push(res, ask(1)) });
    await session.describe();
    expect(await leg(session, 1)).toEqual({ is: 'unknown', reason: 'no_session' });
  });

  it('is not begun with a server of another revision', async () => {
    const { session } = await begun({ revision: '2025-06-18', onCall: () => undefined });
    await expect(session.describe()).rejects.toMatchObject({ name: 'CatalogFault', code: 'invalid' });
  });
});
