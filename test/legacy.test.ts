/**
 * Servers of MCP 2025-11-25: they ask while the call is pending, in a session that one worker holds. What happens to that session, or to its
 * worker, happens to the call, and nothing is ever replayed to another.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import { accept, answer, asked, auditOf, invocation, outcome, post, start } from './harness/conversation.js';
import { FaultServer } from './harness/fault-server.js';
import { named, push, sessionOf } from './harness/legacy-faults.js';
import { LegacyServer } from './harness/legacy-server.js';
import { until, type Parley } from './harness/parley.js';
import { resetToFirstTask, temporalClient } from './harness/temporal.js';
import { undoAfterEach } from './harness/undo.js';

const undo = undoAfterEach();

const leaseMs = 3_000;
const slackMs = 30_000;
const lost = { outcome: 'binding_lost', reason: 'connection_lost' };
const publish = { server: 'old', tool: 'publish', arguments: { title: 'news' } };

describe('a call of a server of MCP 2025-11-25', () => {
  it('completes without a question, its tools are shown by the API, and its session is ended', async () => {
    const { parley, server } = await withLegacy();
    const reply = await post(parley, { server: 'old', tool: 'note', arguments: { title: 'one' }, waitSeconds: 20 });
    expect(reply.body, reply.text).toMatchObject({ outcome: 'completed', leg: 1 });
    expect(reply.body.result.content[0].text).toBe('accept');
    expect(server.effects).toEqual(['one: accept']);
    await until(() => (server.sessions.length === 0 ? true : undefined));

    const tools = await parley.api('/v1/servers/old/tools');
    expect(tools.body.items.map(({ name }: { name: string }) => name)).toContain('publish');
    const id = await start(parley, { server: 'old', tool: 'absent' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'refused', reason: 'tool_unknown' });
  }, 60_000);

  it('asks, is parked, is answered, and completes: one call and one response on the wire [P1]', async () => {
    const { parley, server } = await withLegacy();
    const id = await start(parley, publish);
    const consent = await asked(parley, id);
    const [key = ''] = Object.keys(consent.inputs);
    expect(consent.inputs[key].message).toBe('Publish news?');
    // Longer than the lease: the worker is heard of meanwhile.
    await sleep(leaseMs + 1_500);
    await accept(parley, consent, { [key]: { confirm: true } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(server.effects).toEqual(['news: accept {"confirm":true}']);
    expect(server.requests.filter(({ message }) => message.method === 'tools/call').map(({ message }) => message.id)).toEqual([
      `${id}.1`,
    ]);
    const answers = server.requests.filter(({ message }) => message.result !== undefined);
    expect(answers.map(({ message }) => message.result)).toEqual([{ action: 'accept', content: { confirm: true } }]);
    const connections = (await auditOf(parley, id)).flatMap((event) => event.connection ?? []);
    expect(connections).toHaveLength(2);
    expect(new Set(connections).size).toBe(1);
    // The session's id opens the session.
    expect(parley.logs().join('\n')).not.toContain(answers[0]?.session);
    expect(server.requests.at(0)?.message.params.capabilities).toEqual({});
    const declared = server.requests.filter(({ message }) => message.method === 'initialize').at(-1)?.message.params;
    expect(declared).toMatchObject({ protocolVersion: '2025-11-25', capabilities: { elicitation: { form: {}, url: {} } } });
  }, 60_000);

  it('is declined, asks twice, and is heard on the other stream of its session [P1]', async () => {
    const { parley, server } = await withLegacy();
    const declined = await start(parley, publish);
    const [key = ''] = Object.keys((await asked(parley, declined)).inputs);
    await answer(parley, await asked(parley, declined), { [key]: { action: 'decline' } });
    expect(await outcome(parley, declined)).toMatchObject({ outcome: 'completed', leg: 2 });

    const twice = await start(parley, { ...publish, tool: 'rename' });
    await acceptRound(parley, twice, 1, { name: 'olds' });
    await acceptRound(parley, twice, 2, { confirm: false });
    expect(await outcome(parley, twice)).toMatchObject({ outcome: 'completed', leg: 3 });

    const elsewhere = await start(parley, { ...publish, tool: 'elsewhere' });
    await acceptRound(parley, elsewhere, 1, { confirm: true });
    expect(await outcome(parley, elsewhere)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(server.effects).toEqual(['news: decline', 'news: accept {"confirm":false}', 'news: accept {"confirm":true}']);
  }, 60_000);

  it('asks before it says anything of the request, where a server answers in JSON [P1]', async () => {
    const { parley, server } = await withLegacy(undefined, new LegacyServer({ answersInJson: true }));
    const id = await start(parley, { ...publish, tool: 'elsewhere' });
    await asked(parley, id);
    await sleep(leaseMs + 1_500);
    await acceptRound(parley, id, 1, { confirm: true });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(server.effects).toEqual(['news: accept {"confirm":true}']);
  }, 60_000);

  it('shares its session with no other tenant, nor with any other call [P3]', async () => {
    const { parley, server } = await withLegacy();
    const titles = ['a', 'b', 'c', 'd'];
    const tenantOf = (index: number) => ({ tenant: index % 2 === 0 ? 't1' : 't2' });
    const wishes = titles.map((title, index) => ({ ...publish, arguments: { title }, as: tenantOf(index) }));
    const ids = await Promise.all(wishes.map((wish) => start(parley, wish)));
    for (const [index, id] of ids.entries()) {
      const as = tenantOf(index);
      const call = async () => (await parley.api(`/v1/invocations/${id}`, { as })).body;
      const consentId = await until(async () => (await call()).consent ?? undefined);
      const consent = (await parley.api(`/v1/consents/${consentId}`, { as })).body;
      expect(Object.values(consent.inputs)).toMatchObject([{ message: `Publish ${titles[index]}?` }]);
      const reply = await answer(parley, consent, accepting(consent, { confirm: index % 2 === 0 }), { as });
      expect([200, 202], reply.text).toContain(reply.status);
      const ended = await until(async () => ((await call()).outcome === null ? undefined : await call()));
      expect(ended).toMatchObject({ outcome: 'completed', leg: 2 });
    }
    expect(server.effects.toSorted()).toEqual(titles.map((title, index) => `${title}: accept {"confirm":${index % 2 === 0}}`));
    const calls = server.requests.filter(({ message }) => message.method === 'tools/call');
    expect(new Set(calls.map(({ session }) => session)).size).toBe(titles.length);
  }, 60_000);

  it('goes to the worker that holds its session, whichever worker is idle [P1]', async () => {
    const { parley, server } = await withLegacy();
    await parley.start('worker');
    const ids = await Promise.all(Array.from({ length: 6 }, () => start(parley, publish)));
    for (const id of ids) await acceptRound(parley, id, 1, { confirm: true });
    for (const id of ids) expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(server.effects).toHaveLength(ids.length);
  }, 90_000);
});

describe('a call whose session is lost', () => {
  it('while a person thinks, with its worker: ends within the lease and is not replayed [P1] [P3]', async () => {
    const { parley, server } = await withLegacy();
    const id = await start(parley, publish);
    const consent = await asked(parley, id);
    const killedAt = Date.now();
    await parley.restartWorker('kill');
    expect(await outcome(parley, id)).toMatchObject({ ...lost, leg: 2 });
    expect(Date.now() - killedAt).toBeLessThan(leaseMs + slackMs);
    const late = await answer(parley, consent, accepting(consent, { confirm: true }));
    expect(late.status, late.text).toBe(409);
    expect(server.effects).toEqual([]);
    expect(server.requests.filter(({ message }) => message.method === 'tools/call')).toHaveLength(1);
  }, 90_000);

  it('while a person thinks, by the server: its patience, its connections, its sessions', async () => {
    const { parley, server } = await withLegacy();
    const hasty = await start(parley, { ...publish, tool: 'hasty' });
    await asked(parley, hasty);
    expect(await outcome(parley, hasty)).toMatchObject(lost);

    const reset = await start(parley, publish);
    await asked(parley, reset);
    server.reset();
    expect(await outcome(parley, reset)).toMatchObject(lost);
    expect(server.effects).toEqual([]);
  }, 60_000);

  it('when the worker is stopped: ends at once, and the server is told', async () => {
    const { parley, server } = await withLegacy('PT60S');
    const id = await start(parley, publish);
    await asked(parley, id);
    const holder = parley.process('worker');
    await parley.start('worker');
    expect(await holder.stop()).toEqual({ code: 0, signal: null });
    expect(await outcome(parley, id)).toMatchObject(lost);
    expect(server.sessions).toEqual([]);
  }, 90_000);

  it('when the call is cancelled: nothing is answered, and the session is ended [P6]', async () => {
    const { parley, server } = await withLegacy();
    const id = await start(parley, publish);
    await asked(parley, id);
    await parley.api(`/v1/invocations/${id}/cancel`, { method: 'POST', idempotencyKey: 'give up' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'cancelled' });
    await until(() => (server.sessions.length === 0 ? true : undefined));
    expect(server.requests.filter(({ message }) => message.result !== undefined)).toEqual([]);
  }, 60_000);

  it('on the wire: nobody can tell what came of it [P1]', async () => {
    const { parley, server } = await withLegacy();
    const id = await start(parley, { ...publish, tool: 'slow' });
    await until(() => (server.effects.length === 1 ? true : undefined));
    server.reset();
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'indeterminate', reason: 'leg_unknown' });
    expect(server.requests.filter(({ message }) => message.method === 'tools/call')).toHaveLength(1);
  }, 60_000);
});

describe('a call that is reset to its first task', () => {
  it('while a person thinks: the same question is asked again, and answered in the session that asked [P1] [P3]', async () => {
    const { parley, server } = await withLegacy();
    const temporal = await temporalClient();
    undo.push(() => temporal.connection.close());
    const id = await start(parley, publish);
    const before = await asked(parley, id);
    const sessions = server.sessions;
    await resetToFirstTask(temporal.workflow.getHandle(workflowId('t1', id as InvocationId)));
    await until(async () => {
      const { consent, outcome: isOver } = await invocation(parley, id);
      return isOver !== null || (consent !== null && consent !== before.id);
    }, slackMs);
    // Longer than the lease: the session is held for the new run.
    await sleep(leaseMs + 1_500);
    expect(server.sessions).toEqual(sessions);
    await acceptRound(parley, id, 1, { confirm: true });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(server.effects).toEqual(['news: accept {"confirm":true}']);
    expect(server.requests.filter(({ message }) => message.method === 'tools/call')).toHaveLength(1);
  }, 90_000);
});

describe('a server of MCP 2025-11-25 that misbehaves', () => {
  it('harms its own call alone, which ends as it would with any server [P5]', async () => {
    const form = (requestedSchema: object) => ({ method: 'elicitation/create', params: { message: 'psst', requestedSchema } });
    const good = form({ type: 'object', properties: { ok: { type: 'boolean' } } });
    const behaviours: Record<string, { says: readonly object[]; ends: object }> = {
      schema: {
        says: [{ id: 7, ...form({ type: 'object', properties: { a: { type: 'array' } } }) }],
        ends: { outcome: 'refused' },
      },
      undeclared: { says: [{ id: 7, method: 'roots/list' }], ends: { outcome: 'refused', reason: 'undeclared_kind' } },
      unknown: { says: [{ id: 7, method: 'tasks/list' }], ends: { outcome: 'refused', reason: 'unknown_kind' } },
      flood: { says: Array.from({ length: 100 }, (_, id) => ({ id, ...good })), ends: lost },
      late: {
        says: [
          { id: 'call', result: { content: [] } },
          { id: 8, ...good },
        ],
        ends: { outcome: 'completed', leg: 1 },
      },
      foreign: { says: [{ id: 'inv_0.1', result: { content: [] } }], ends: { outcome: 'indeterminate' } },
    };
    const servers = await Promise.all(
      Object.entries(behaviours).map(async ([id, { says }]) => {
        const server = new FaultServer();
        undo.push(async () => server.stop());
        const url = await server.start(sessionOf({ onCall: (res, callId) => push(res, ...named(says, callId)) }));
        return { server, written: { id, url, protocol: '2025-11-25' } as const };
      }),
    );
    const parley = await undo.parleyOf({ servers: servers.map(({ written }) => written) });
    const ids = await Promise.all(servers.map(({ written }) => start(parley, { server: written.id, tool: 'go' })));
    const ended = await Promise.all(ids.map((id) => outcome(parley, id, 40_000)));
    expect(ended).toMatchObject(Object.values(behaviours).map(({ ends }) => ends));
    for (const { server } of servers) {
      await until(() => server.received.filter(({ method }) => method === 'DELETE').length >= 2 || undefined);
      expect(server.received.filter(({ body }) => 'result' in body)).toEqual([]);
    }
  }, 90_000);
});

describe('a server of MCP 2025-11-25 whose registration does not say so', () => {
  it('is refused, and the reason names the setting', async () => {
    const server = new LegacyServer();
    undo.push(() => server.stop());
    const parley = await undo.parleyOf({ servers: [{ id: 'old', url: await server.start() }] });
    const reply = await post(parley, { server: 'old', tool: 'note', waitSeconds: 20 });
    expect(reply.body, reply.text).toMatchObject({ outcome: 'failed', reason: 'server_error' });
    expect(JSON.stringify(reply.body.problem)).toContain("protocol: '2025-11-25'");
    expect(server.effects).toEqual([]);
  }, 60_000);
});

async function withLegacy(
  lease = `PT${leaseMs / 1_000}S`,
  server = new LegacyServer(),
): Promise<{ parley: Parley; server: LegacyServer }> {
  undo.push(() => server.stop());
  const url = await server.start();
  const parley = await undo.parleyOf({
    servers: [{ id: 'old', url, protocol: '2025-11-25' }],
    env: { PARLEY_CONNECTION_LEASE: lease },
  });
  return { parley, server };
}

/** Its keys are the server's ids of its questions. */
function accepting({ inputs }: { inputs: object }, content: object): Record<string, object> {
  return Object.fromEntries(Object.keys(inputs).map((key) => [key, { action: 'accept', content }]));
}

async function acceptRound(parley: Parley, id: string, round: number, content: object): Promise<void> {
  const consent = await asked(parley, id, round);
  await accept(parley, consent, Object.fromEntries(Object.keys(consent.inputs).map((key) => [key, content])));
}
