/** Promise 1: a leg is on the wire at most once, and the outcome says honestly what is known. Judged by what the server received. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../tools/ports.js';
import {
  accept,
  answer,
  asked,
  auditOf,
  deployTo,
  exampleLegs,
  invocation,
  outcome,
  post,
  start,
} from './harness/conversation.js';
import { startParley, until, type Parley, type WrittenServer } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';

let parley: Parley;
let scripted: ScriptedServer;
let servers: WrittenServer[];
let gonePort: number;
const release: (() => void)[] = [];

beforeAll(async () => {
  scripted = await scriptedServer(
    [tool('dies'), tool('dies_later'), tool('slow'), tool('http_500'), tool('refuses')],
    (call, reply) => {
      switch ((call.params as { name: string }).name) {
        case 'dies':
          return void reply.raw.socket?.destroy();
        case 'dies_later':
          if ('inputResponses' in call.params) return void reply.raw.socket?.destroy();
          return reply.result({ resultType: 'input_required', inputRequests: asking('go', { ok: { type: 'boolean' } }) });
        case 'slow':
          return void release.push(() => reply.result(done));
        case 'http_500':
          return void reply.raw.writeHead(502).end('bad gateway');
        default:
          return reply.error(-32000, 'the server says no');
      }
    },
  );
  gonePort = await freePort();
  servers = [
    { id: 'scripted', url: scripted.url, policy: { legDeadline: 'PT3S' } },
    { id: 'gone', url: `http://127.0.0.1:${gonePort}/mcp` },
  ];
  parley = await startParley({ servers });
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
});

const sends = (id: string): number => scripted.calls.filter((call) => call.id.startsWith(id)).length;

describe('a server that cannot be reached', () => {
  it('ends the call as unreachable after the attempts of its policy, and nothing was sent [P1]', async () => {
    const answering = (): Promise<ScriptedServer> =>
      scriptedServer([tool('echo')], (_call, reply) => reply.result(done), gonePort);
    const wish = { server: 'gone', tool: 'echo' };
    // The worker then knows the server, and the connection for the leg itself is what is refused.
    const before = await answering();
    expect(await outcome(parley, await start(parley, wish))).toMatchObject({ outcome: 'completed' });
    await before.close();

    const id = await start(parley, wish);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'unreachable', reason: 'connect_attempts_spent', leg: 1 });
    const submitted = (await auditOf(parley, id)).filter((event) => event.type === 'leg_submitted');
    expect(submitted.map((event) => event.try)).toEqual([1, 2, 3]);

    const after = await answering();
    expect(await outcome(parley, await start(parley, wish))).toMatchObject({ outcome: 'completed' });
    expect(after.calls.filter((call) => call.id.startsWith(id))).toEqual([]);
    await after.close();
  });

  it('is tried again, and the call completes with one send once the server is there [P1]', async () => {
    const port = await freePort();
    await parley.register([...servers, { id: 'late', url: `http://127.0.0.1:${port}/mcp`, policy: { maxConnectAttempts: 100 } }]);
    await Promise.all([parley.restartApi(), parley.restartWorker()]);
    const id = await start(parley, { server: 'late', tool: 'late' });
    await until(async () => (await invocation(parley, id)).status === 'sending');
    const late = await scriptedServer([tool('late')], (_call, reply) => reply.result(done), port);
    try {
      expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 1 });
      expect(late.calls).toHaveLength(1);
    } finally {
      await late.close();
    }
  });
});

describe('a connection that dies after the request was written', () => {
  it('ends the call as indeterminate after one send [P1]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'dies' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'indeterminate', reason: 'leg_unknown' });
    expect(sends(id)).toBe(1);
  });

  it('does so on the retry after an answer, too: the answer is not sent again [P1] [P3]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'dies_later' });
    await accept(parley, await asked(parley, id), { go: { ok: true } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'indeterminate', leg: 2 });
    expect(sends(id)).toBe(2);
  });
});

describe('a leg', () => {
  it('that outlives its deadline is indeterminate, and is not sent again [P1]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'slow', policy: { legDeadline: 'PT0.3S' } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'indeterminate', reason: 'leg_unknown' });
    expect(sends(id)).toBe(1);
  });

  it('that a proxy answers with 502 is indeterminate: the server may have run it [P1]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'http_500' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'indeterminate' });
    expect(sends(id)).toBe(1);
  });

  it('that the server refuses has failed, and shows the server’s own error', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'refuses' });
    const closed = await outcome(parley, id);
    expect(closed).toMatchObject({ outcome: 'failed', reason: 'server_error', result: null });
    expect(closed.problem.detail).toMatchObject({ message: 'the server says no', rpcCode: -32000 });
  });

  it('is sent once when the worker is killed while it is on the wire, and its outcome is unknown [P1] [P2]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'slow' });
    await until(() => sends(id) === 1);
    await parley.restartWorker('kill');
    expect(await outcome(parley, id, 30_000)).toMatchObject({ outcome: 'indeterminate', reason: 'leg_unknown' });
    expect(sends(id)).toBe(1);
  }, 60_000);

  it('is waited for when the worker is told to stop while it is on the wire [P1] [P2]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'slow' });
    await until(() => sends(id) === 1);
    const stopped = parley.process('worker').stop();
    await until(async () => (await fetch(`${parley.urls.worker}/health/ready`)).status === 503);
    for (const reply of release.splice(0)) reply();
    expect(await stopped).toEqual({ code: 0, signal: null });
    await parley.start('worker');
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 1 });
    expect(sends(id)).toBe(1);
  });
});

describe('a double click', () => {
  it('with one key starts one call, and both get the first reply [P1]', async () => {
    const before = parley.example.effects().requests.length;
    const wish = { tool: 'echo', arguments: { text: 'twice' }, key: 'double-start', waitSeconds: 20 };
    const [first, second] = await Promise.all([post(parley, wish), post(parley, wish)]);
    const third = await post(parley, wish);
    for (const reply of [first, second, third]) expect(reply.status, reply.text).toBe(200);
    expect(new Set([first.body.id, second.body.id, third.body.id]).size).toBe(1);
    expect(third.body).toEqual(first.body);
    const legs = parley.example
      .effects()
      .requests.slice(before)
      .filter((request) => request.method === 'tools/call');
    expect(legs).toHaveLength(1);
  });

  it('on an answer acts once: one key, one verdict; two keys, the first wins [P1] [P3]', async () => {
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'twice' } });
    const consent = await asked(parley, id);
    const before = parley.example.effects().byTool['deploy'] ?? 0;
    const yes = { target: { action: 'accept', content: deployTo('staging').target } };
    const no = { target: { action: 'decline' } };
    const replies = await Promise.all([
      answer(parley, consent, yes, { key: 'same' }),
      answer(parley, consent, yes, { key: 'same' }),
      answer(parley, consent, no, { key: 'other' }),
    ]);
    const statuses = replies.map((reply) => reply.status);
    expect(statuses[0]).toBe(statuses[1]);
    expect([...new Set(statuses)].toSorted(), JSON.stringify(replies.map((reply) => reply.body))).toEqual([200, 409]);
    await outcome(parley, id);
    expect(exampleLegs(parley, id)).toHaveLength(2);
    expect((parley.example.effects().byTool['deploy'] ?? 0) - before).toBe(statuses[0] === 200 ? 1 : 0);
  });
});
