/**
 * `temporal workflow reset` to the first task: the call lives its life again, while the ledger knows how far it had come. What was answered and
 * sent is neither sent nor asked again (promises 1 and 3).
 */

import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import { accept, answer, asked, auditOf, invocation, outcome, start } from './harness/conversation.js';
import { FaultServer } from './harness/fault-server.js';
import { named, push, sessionOf } from './harness/legacy-faults.js';
import { startParley, until, type Parley, type Who } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';
import { resetToFirstTask, temporalClient } from './harness/temporal.js';

let parley: Parley;
let scripted: ScriptedServer;
let temporal: Client;
const legacy = new FaultServer();
const leaseMs = 3_000;
const release: (() => void)[] = [];

beforeAll(async () => {
  temporal = await temporalClient();
  scripted = await scriptedServer(
    ['held', 'twice', 'locked', 'forgets', 'plain'].map((name) => tool(name)),
    (call, reply) => {
      const { name } = call.params as { name: string };
      const leg = Number(call.id.split('.')[1]);
      if (leg > 1 && name === 'held') return void release.push(() => reply.result(done));
      if (leg === 2 && name === 'forgets') return void release.push(() => reply.error(-32602, 'expired', expired));
      if (leg === 2 && name === 'locked') return void release.push(() => void reply.raw.writeHead(401).end());
      if (leg > (name === 'twice' ? 2 : 1)) return reply.result(done);
      const inputRequests = asking(`go ${leg}`, { ok: { type: 'boolean' } });
      return reply.result({ resultType: 'input_required', inputRequests, requestState: `after leg ${leg}` });
    },
  );
  const policy = { onStateExpired: 'reask', maxConnectAttempts: 2 };
  const url = await legacy.start(askingInSession());
  parley = await startParley({
    servers: [
      { id: 'scripted', url: scripted.url, policy },
      { id: 'legacy', url, protocol: '2025-11-25' },
    ],
    env: { PARLEY_CONNECTION_LEASE: `PT${leaseMs / 1_000}S` },
  });
});
beforeEach(() => void release.splice(0));
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
  legacy.stop();
  await temporal?.connection.close();
});

const sent = (id: string) => scripted.calls.filter((call) => call.id.startsWith(id)).map((call) => call.id.slice(id.length + 1));
const agreed = { ok: true };
const expired = { reason: 'invalid_request_state' };
const begin = async (name: string) => start(parley, { server: 'scripted', tool: name });

/** A server of MCP 2025-11-25 whose result waits to be released. */
function askingInSession() {
  const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
  const question = { id: 7, method: 'elicitation/create', params: { message: 'go', requestedSchema } };
  let stream: ServerResponse;
  let callId: string;
  return sessionOf({
    onCall: (res, id) => push((stream = res), ...named([question], (callId = id))),
    onAnswer: (res) => {
      res.writeHead(202).end();
      release.push(() => push(stream, { id: callId, result: { content: [] } }));
    },
  });
}

const reset = (id: string): Promise<void> => resetToFirstTask(temporal.workflow.getHandle(workflowId('t1', id as InvocationId)));

const operator: Who = { sub: 'operator-1', scopes: ['calls:read', 'calls:operate', 'servers:operate'] };
async function operate(path: string, method: 'PUT' | 'POST' | 'DELETE'): Promise<void> {
  const { status, text } = await parley.api(`/v1/${path}`, { method, as: operator, idempotencyKey: randomUUID() });
  expect(status, text).toBeLessThan(300);
}

/** Which questions of this call are on the audit record as answered. */
const answersOf = async (id: string) =>
  (await auditOf(parley, id)).filter(({ type }) => type === 'answer_accepted').map(({ round }) => round);
/** How often the server's questions were received, in whatever run. */
const receivedBy = async (id: string, round: number) =>
  (await auditOf(parley, id)).filter((each) => each.type === 'round_received' && each.round === round).length;
const openFor = async (id: string) =>
  (await parley.api('/v1/consents')).body.items.filter((each: any) => each.invocation === id).map((each: any) => each.round);

describe('a call that is reset to its first task', () => {
  it('while its retry is on the wire: nobody is asked again, and the reply counts [P1] [P3]', async () => {
    const id = await begin('held');
    await accept(parley, await asked(parley, id), { 'go 1': agreed });
    await until(() => sent(id).length === 2);
    await reset(id);
    await until(async () => (await receivedBy(id, 1)) === 2);
    expect(await openFor(id)).toEqual([]);
    for (const reply of release.splice(0)) reply();
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'completed', leg: 2, round: 1 });
    expect(sent(id)).toEqual(['1', '2']);
    expect(await answersOf(id)).toEqual([1]);
  }, 90_000);

  it('while the second question waits: that one alone is asked again [P1] [P3]', async () => {
    const id = await begin('twice');
    await accept(parley, await asked(parley, id), { 'go 1': agreed });
    const before = await asked(parley, id, 2);
    await reset(id);
    const after = await until(async () => {
      const { consent } = await invocation(parley, id);
      return consent !== null && consent !== before.id && (await asked(parley, id, 2));
    }, 60_000);
    expect(await openFor(id)).toEqual([2]);
    expect((await parley.api(`/v1/consents/${before.id}`)).body.status).toBe('withdrawn');
    await accept(parley, after, { 'go 2': agreed });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 3, round: 2 });
    expect(sent(id)).toEqual(['1', '2', '3']);
    expect(await answersOf(id)).toEqual([1, 2]);
  }, 90_000);

  it('and whose retry the server then turns away: the person is asked anew, for a leg of its own [P1] [P3]', async () => {
    const id = await begin('locked');
    await accept(parley, await asked(parley, id), { 'go 1': agreed });
    await until(() => sent(id).length === 2);
    await reset(id);
    await until(async () => (await receivedBy(id, 1)) === 2);
    for (const reply of release.splice(0)) reply();
    await accept(parley, await asked(parley, id, 1, 60_000), { 'go 1': agreed });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 3 });
    expect(sent(id)).toEqual(['1', '2', '3']);
    expect(scripted.calls.at(-1)?.params).toHaveProperty('inputResponses');
  }, 90_000);

  it('and whose server then forgets its state: what the person may have declined is not asked afresh [P3] [P6]', async () => {
    const id = await begin('forgets');
    const declined = await answer(parley, await asked(parley, id), { 'go 1': { action: 'decline' } });
    expect([200, 202]).toContain(declined.status);
    await until(() => sent(id).length === 2);
    await reset(id);
    await until(async () => (await receivedBy(id, 1)) === 2);
    for (const reply of release.splice(0)) reply();
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'state_expired', leg: 2 });
    expect(sent(id)).toEqual(['1', '2']);
  }, 90_000);

  it('while its retry is held, after tries in vain: they cost the answer to the new question no attempt [P1] [P3]', async () => {
    const id = await begin('plain');
    const before = await asked(parley, id);
    await operate('holds/servers/scripted', 'PUT');
    await accept(parley, before, { 'go 1': agreed });
    const waits = async (times: number) =>
      until(async () => (await auditOf(parley, id)).filter(({ type }) => type === 'call_waiting').length === times);
    for (let tries = 1; tries < 4; tries += 1) {
      await waits(tries);
      await operate(`invocations/${id}/resume`, 'POST');
    }
    await waits(4);
    await reset(id);
    const after = await until(async () => {
      const { consent } = await invocation(parley, id);
      return consent !== null && consent !== before.id && (await asked(parley, id));
    }, 60_000);
    await operate('holds/servers/scripted', 'DELETE');
    await accept(parley, after, { 'go 1': agreed });
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(sent(id)).toEqual(['1', '2']);
  }, 120_000);
});

describe('a call of a server of MCP 2025-11-25 that is reset to its first task', () => {
  const begun = async () => start(parley, { server: 'legacy', tool: 'go' });
  const calls = (id: string) => legacy.received.filter(({ body }) => body.id === `${id}.1`).length;

  it('while the question waits: it is asked again in its session, and answered there [P1] [P3]', async () => {
    const id = await begun();
    const before = await asked(parley, id);
    await reset(id);
    const after = await until(async () => {
      const { consent } = await invocation(parley, id);
      return consent !== null && consent !== before.id && (await asked(parley, id));
    }, 60_000);
    await accept(parley, after, { 7: agreed });
    await until(() => release.length === 1);
    for (const reply of release.splice(0)) reply();
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(calls(id)).toBe(1);
  }, 90_000);

  it('while the answer is with the server: its session is kept, and the result counts [P1] [P3]', async () => {
    const id = await begun();
    await accept(parley, await asked(parley, id), { 7: agreed });
    await until(() => release.length === 1);
    await reset(id);
    await until(async () => (await receivedBy(id, 1)) === 2);
    await sleep(2 * leaseMs);
    for (const reply of release.splice(0)) reply();
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(calls(id)).toBe(1);
  }, 90_000);
});
