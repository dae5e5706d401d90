/** Cancelling a call at every stage: nothing more is sent, and what did happen is not hidden (design §3, promise 6). */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import { accept, answer, asked, invocation, outcome, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';
import { temporalClient } from './harness/temporal.js';

let parley: Parley;
let scripted: ScriptedServer;
let stalling: ScriptedServer;
const release: (() => void)[] = [];
/** What ends each `tools/list` of the stalling server; absent while it does not stall. */
let stalled: (() => void)[] | undefined;

beforeAll(async () => {
  const ask = { resultType: 'input_required', inputRequests: asking('go', { ok: { type: 'boolean' } }) };
  scripted = await scriptedServer([tool('asks'), tool('held'), tool('held_asks'), tool('polls')], (call, reply) => {
    const { name } = call.params as { name: string };
    if (name === 'held') return void release.push(() => reply.result(done));
    if (name === 'held_asks') return void release.push(() => reply.result(ask));
    return reply.result(name === 'asks' ? ask : { resultType: 'input_required', requestState: 'later' });
  });
  stalling = await scriptedServer(
    async () => {
      await new Promise<void>((goOn) => void (stalled?.push(goOn) ?? goOn()));
      return [tool('asks')];
    },
    (call, reply) => reply.result('inputResponses' in call.params ? done : ask),
  );
  parley = await startParley({
    servers: [
      { id: 'stalling', url: stalling.url, policy: { legDeadline: 'PT3S' } },
      { id: 'scripted', url: scripted.url, policy: { pollInitial: 'PT1H', pollMax: 'PT1H' } },
      { id: 'absent', url: 'http://127.0.0.1:9/mcp', policy: { connectBackoffInitial: 'PT1H', connectBackoffMax: 'PT1H' } },
    ],
  });
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
  await stalling?.close();
});

const sends = (id: string): number => scripted.calls.filter((call) => call.id.startsWith(id)).length;
const cancel = (id: string, as: object = {}) =>
  parley.api(`/v1/invocations/${id}/cancel`, { method: 'POST', idempotencyKey: randomUUID(), as });
const cancelled = { outcome: 'cancelled', reason: 'cancel_requested', consent: null };

describe('cancelling', () => {
  it('while a person is asked withdraws the round and sends nothing [P6]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'asks' });
    const consent = await asked(parley, id);
    expect((await cancel(id)).status).toBe(202);
    expect(await outcome(parley, id)).toMatchObject(cancelled);
    const late = await answer(parley, consent, { go: { action: 'accept', content: { ok: true } } });
    expect(late.status).toBe(409);
    expect(late.body.code).toBe('consent_withdrawn');
    expect(sends(id)).toBe(1);
  });

  it('while the server is waited for ends the wait', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'polls' });
    await until(async () => (await invocation(parley, id)).status === 'awaiting_server');
    await cancel(id);
    expect(await outcome(parley, id)).toMatchObject(cancelled);
    expect(sends(id)).toBe(1);
  });

  it('while the server cannot be reached ends the attempts', async () => {
    const id = await start(parley, { server: 'absent', tool: 'any' });
    await cancel(id);
    expect(await outcome(parley, id)).toMatchObject(cancelled);
  });

  it('while a leg is on the wire lets it finish: a complete result is not hidden [P1]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'held' });
    await until(() => sends(id) === 1);
    expect((await cancel(id)).status).toBe(202);
    for (const reply of release.splice(0)) reply();
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 1 });
  });

  it('while a leg is on the wire asks nobody when the server then asks [P6]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'held_asks' });
    await until(() => sends(id) === 1);
    await cancel(id);
    for (const reply of release.splice(0)) reply();
    expect(await outcome(parley, id)).toMatchObject(cancelled);
    const inbox = await parley.api('/v1/consents');
    expect(inbox.body.items.filter((item: any) => item.invocation === id)).toEqual([]);
  });

  it('while a retry is being planned sends nothing more, however it is cancelled [P1]', async () => {
    const ids = await Promise.all([1, 2].map(() => start(parley, { server: 'stalling', tool: 'asks' })));
    const consents = await Promise.all(ids.map((id) => asked(parley, id)));
    const lists: (() => void)[] = (stalled = []);
    for (const consent of consents) await accept(parley, consent, { go: { ok: true } });
    await until(() => lists.length > 0);
    const [id = '', terminated = ''] = ids;
    expect((await cancel(id)).status).toBe(202);
    const temporal = await temporalClient();
    await temporal.workflow.getHandle(workflowId('t1', terminated as InvocationId)).terminate('by an operator');
    await temporal.connection.close();
    // Several beats of a leg that has so short a deadline.
    await sleep(4_000);
    stalled = undefined;
    for (const goOn of lists) goOn();
    expect(await outcome(parley, id)).toMatchObject(cancelled);
    await cancel(terminated);
    expect(await outcome(parley, terminated)).toMatchObject({ outcome: 'cancelled', reason: 'terminated' });
    expect(stalling.calls).toHaveLength(2);
  }, 60_000);

  it('before any worker has begun sends nothing at all', async () => {
    await parley.process('worker').stop();
    const id = await start(parley, { server: 'scripted', tool: 'asks' });
    expect((await cancel(id)).status).toBe(202);
    await parley.start('worker');
    expect(await outcome(parley, id)).toMatchObject(cancelled);
    expect(sends(id)).toBe(0);
  });

  it('in Temporal itself counts as the operator’s', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'asks' });
    await asked(parley, id);
    const temporal = await temporalClient();
    await temporal.workflow.getHandle(workflowId('t1', id as InvocationId)).cancel();
    await temporal.connection.close();
    expect(await outcome(parley, id)).toMatchObject(cancelled);
  });

  it('is for the caller and the subject: others find no such call', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'asks' });
    await asked(parley, id);
    expect((await cancel(id, { sub: 'user-2' })).status).toBe(404);
    expect((await cancel(id, { tenant: 't2' })).status).toBe(404);
    expect(await invocation(parley, id)).toMatchObject({ status: 'awaiting_input' });
  });

  it('a call that is over answers 200 with how it ended', async () => {
    const id = await start(parley, { tool: 'echo', arguments: { text: 'x' } });
    await outcome(parley, id);
    const reply = await cancel(id);
    expect(reply.status).toBe(200);
    expect(reply.body.outcome).toBe('completed');
  });
});
