/** What operators may do: hold a server or a tenant, cancel any call of their tenant, take a question back. Nothing they do is an answer. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
import { startParley, until, type Parley } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';

const operator = { sub: 'operator-1', scopes: ['calls:operate', 'servers:operate', 'audit:read'] };

let parley: Parley;
let other: ScriptedServer;
let stalling: ScriptedServer;
/** What the next `tools/list` of the stalling server waits for. */
let stall: { reached(): void; readonly over: Promise<void> } | undefined;
beforeAll(async () => {
  other = await scriptedServer([tool('free')], (_call, reply) => reply.result(done));
  stalling = await scriptedServer(
    async () => {
      stall?.reached();
      await stall?.over;
      return [tool('asks')];
    },
    (call, reply) => {
      const isRetry = 'inputResponses' in call.params;
      const inputRequests = asking('go', { ok: { type: 'boolean' } });
      return reply.result(isRetry ? done : { resultType: 'input_required', inputRequests });
    },
  );
  const servers = [
    { id: 'other', url: other.url },
    { id: 'stalling', url: stalling.url },
  ];
  parley = await startParley({ servers });
});
afterAll(async () => {
  await parley?.stop();
  await other?.close();
  await stalling?.close();
});

const hold = (what: string, as: object = operator) => parley.api(`/v1/holds/${what}`, { method: 'PUT', as });
const release = (what: string, as: object = operator) => parley.api(`/v1/holds/${what}`, { method: 'DELETE', as });
const holds = async () => (await parley.api('/v1/holds', { as: operator })).body;
const act = (path: string, as: object = operator) =>
  parley.api(path, { method: 'POST', as, idempotencyKey: `${path} ${Math.random()}` });

async function waitsFor(id: string, reason: string): Promise<void> {
  await until(async () => (await invocation(parley, id)).reason === reason, 20_000, `${id} to wait for ${reason}`);
}

describe('a held server', () => {
  it('gets no leg until it is released, and other servers go on [P1]', async () => {
    expect((await hold('servers/example')).body).toMatchObject({ heldBy: 'operator-1' });
    const id = await start(parley, { tool: 'echo', arguments: { text: 'later' } });
    await waitsFor(id, 'server_held');
    expect(await invocation(parley, id)).toMatchObject({ status: 'sending', outcome: null });
    expect(await holds()).toMatchObject({ tenant: null, servers: [{ server: 'example', heldBy: 'operator-1' }] });
    expect((await post(parley, { server: 'other', tool: 'free', waitSeconds: 20 })).body).toMatchObject({ outcome: 'completed' });
    expect(exampleLegs(parley, id)).toEqual([]);

    expect((await release('servers/example')).status).toBe(204);
    // Temporal's index may not know yet that the call waits; then the call is told by hand.
    await act(`/v1/invocations/${id}/resume`);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 1 });
    expect(exampleLegs(parley, id)).toHaveLength(1);
    expect(await holds()).toEqual({ tenant: null, servers: [] });
  });

  it('leaves parked calls parked: an answer is taken, and sent when the hold is lifted [P1] [P2] [P3]', async () => {
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'held' } });
    const consent = await asked(parley, id);
    await hold('servers/example');
    expect(await invocation(parley, id)).toMatchObject({ status: 'awaiting_input', consent: consent.id });
    await accept(parley, consent, deployTo('staging'));
    await waitsFor(id, 'server_held');
    expect(exampleLegs(parley, id)).toHaveLength(1);
    // Long enough for Temporal's index to know it.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await release('servers/example');
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(exampleLegs(parley, id)).toHaveLength(2);
    const audited = (await parley.api('/v1/audit?limit=100', { as: operator })).body.items;
    expect(audited.map((event: any) => event.type)).toEqual(
      expect.arrayContaining(['server_held', 'server_released', 'call_waiting']),
    );
  });
});

describe('a hold that is set while a leg is being planned', () => {
  it('is in force for it, however long its server takes to list its tools [P1]', async () => {
    const id = await start(parley, { server: 'stalling', tool: 'asks' });
    const consent = await asked(parley, id);
    let goOn = (): void => {};
    const isReached = new Promise<void>((reached) => {
      stall = { reached, over: new Promise((over) => (goOn = over)) };
    });
    await accept(parley, consent, { go: { ok: true } });
    await isReached;
    await hold('servers/stalling');
    goOn();
    stall = undefined;
    await waitsFor(id, 'server_held');
    expect(stalling.calls).toHaveLength(1);

    await release('servers/stalling');
    await act(`/v1/invocations/${id}/resume`);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(stalling.calls).toHaveLength(2);
  });
});

describe('a held tenant', () => {
  it('gets nothing sent, and other tenants do', async () => {
    await hold('tenant');
    const id = await start(parley, { tool: 'echo', arguments: { text: 'mine' } });
    await waitsFor(id, 'tenant_held');
    const theirs = await post(parley, { tool: 'echo', arguments: { text: 'theirs' }, as: { tenant: 't2' }, waitSeconds: 20 });
    expect(theirs.body).toMatchObject({ outcome: 'completed' });
    await act(`/v1/invocations/${id}/cancel`);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'cancelled' });
    await release('tenant');
    expect(exampleLegs(parley, id)).toEqual([]);
  });
});

describe('who may', () => {
  it('hold, withdraw and cancel is said by the token’s scopes and tenant', async () => {
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'mine' } });
    const consent = await asked(parley, id);
    const stranger = { ...operator, tenant: 't2' };
    const noOperator = { sub: 'user-1' };
    const ofCalls = { ...operator, scopes: ['calls:operate'] };
    const replies = await Promise.all([
      hold('servers/example', noOperator),
      hold('tenant', noOperator),
      hold('servers/example', ofCalls),
      act(`/v1/consents/${consent.id}/withdraw`, noOperator),
      act(`/v1/consents/${consent.id}/withdraw`, stranger),
      act(`/v1/invocations/${id}/cancel`, stranger),
      act(`/v1/invocations/${id}/cancel`, { sub: 'user-2' }),
      hold('servers/nowhere'),
    ]);
    expect(replies.map((reply) => reply.status)).toEqual([403, 403, 403, 403, 404, 404, 404, 404]);
    expect(await holds()).toEqual({ tenant: null, servers: [] });

    const cancelled = await act(`/v1/invocations/${id}/cancel`);
    expect(cancelled.status).toBe(202);
    expect(cancelled.body).toMatchObject({ id, result: null, problem: null });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'cancelled', reason: 'cancel_requested' });
    expect((await auditOf(parley, id)).at(-1)).toMatchObject({ type: 'invocation_closed', actor: 'operator-1' });
  });
});

describe('a question that an operator takes back', () => {
  it('ends its call, is no decline, and can be answered no more [P3] [P6]', async () => {
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'taken back' } });
    const consent = await asked(parley, id);
    const reply = await act(`/v1/consents/${consent.id}/withdraw`);
    expect([reply.status, reply.body]).toEqual([202, { consent: consent.id, invocation: id }]);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'cancelled', reason: 'consent_withdrawn' });
    expect(exampleLegs(parley, id)).toHaveLength(1);
    const late = await answer(parley, consent, { target: { action: 'decline' } });
    expect([late.status, late.body.code]).toEqual([409, 'consent_withdrawn']);
    expect((await act(`/v1/consents/${consent.id}/withdraw`)).body.code).toBe('consent_withdrawn');
  });

  it('comes too late for one that is answered: the answer stands [P3]', async () => {
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'answered' } });
    const consent = await asked(parley, id);
    await accept(parley, consent, deployTo('staging'));
    expect((await act(`/v1/consents/${consent.id}/withdraw`)).body.code).toBe('consent_answered');
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
  });
});
