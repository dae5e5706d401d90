/**
 * Store and Temporal that do not agree: what is told of a call is what the ledger knows of it, never more and never less (promise 1), and
 * a call that is alive is never closed. Every run is the one that an operator makes by hand, with all its parts real.
 */

import { randomUUID } from 'node:crypto';
import { Connection, WorkflowClient } from '@temporalio/client';
import { createClient } from 'redis';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import { accept, answer, asked, auditOf, deployTo, invocation, outcome, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { reconcile, runByHand } from './harness/reconcile.js';
import { asking, done, scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';

const graceMs = 1_000;
const deploy = { tool: 'deploy', arguments: { artifact: 'build-7' } };
/** No worker reconciles by itself here, except where a test says so. */
const env = { PARLEY_RECONCILE_INTERVAL: 'PT0S', PARLEY_RECONCILE_GRACE: 'PT1S' };

let parley: Parley;
let scripted: ScriptedServer;
let connection: Connection;
let temporal: WorkflowClient;
const redis = createClient({ url: inject('redisUrl') });
const release: (() => void)[] = [];

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  temporal = new WorkflowClient({ connection });
  await redis.connect();
  scripted = await scriptedServer([tool('held'), tool('held_later'), tool('fails')], (call, reply) => {
    const { name } = call.params as { name: string };
    const isRetry = 'inputResponses' in call.params;
    if (name === 'held' || (name === 'held_later' && isRetry)) return void release.push(() => reply.result(done));
    if (name === 'fails') return void release.push(() => reply.error(-32000, 'no'));
    return reply.result({ resultType: 'input_required', inputRequests: asking('go', { ok: { type: 'boolean' } }) });
  });
  const brief = { id: 'brief', url: scripted.url, policy: { legDeadline: 'PT3S' } };
  parley = await startParley({ servers: [{ id: 'scripted', url: scripted.url }, brief], env });
});
beforeEach(() => void release.splice(0));
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
  await connection?.close();
  redis.destroy();
});

const idOf = (id: string, tenant = 't1') => workflowId(tenant, id as InvocationId);
const handleOf = (id: string) => temporal.getHandle(idOf(id));
const key = (...parts: string[]) => [parley.env['PARLEY_REDIS_PREFIX'], ...parts].join(':');
const sends = (id: string): number => scripted.calls.filter((call) => call.id.startsWith(id)).length;
const graceIsOver = () => new Promise((over) => setTimeout(over, graceMs + 100));
const reconciledOf = async (id: string) => (await auditOf(parley, id)).filter(({ type }) => type === 'reconciled');

async function terminate(id: string): Promise<void> {
  await handleOf(id).terminate('a test');
}

/** Runs until the reconciler has said something about this call. */
async function repaired(id: string): Promise<string> {
  return until(
    async () => {
      const { report } = await reconcile(parley);
      const found = [...report.repaired, ...report.left].find((each) => each.invocation === id);
      return found && `${found.code} ${found.detail}`;
    },
    60_000,
    `a repair of ${id}`,
  );
}

describe('a workflow that was terminated', () => {
  it('while a person is asked: the call is cancelled, and its question is withdrawn [P6]', async () => {
    const id = await start(parley, deploy);
    const consent = await asked(parley, id);
    await terminate(id);
    expect(await repaired(id)).toBe('call_closed cancelled/terminated');
    expect(await invocation(parley, id)).toMatchObject({
      status: 'closed',
      outcome: 'cancelled',
      reason: 'terminated',
      consent: null,
    });
    const late = await answer(parley, consent, { target: { action: 'accept', content: deployTo('staging').target } });
    expect([late.status, late.body.code]).toEqual([409, 'consent_withdrawn']);
    expect((await parley.api('/v1/consents')).body.items.map((each: any) => each.id)).not.toContain(consent.id);
    expect(await reconciledOf(id)).toEqual([
      expect.objectContaining({ outcome: 'cancelled', reason: 'terminated', consent: consent.id, subject: 'user-1' }),
    ]);
  }, 90_000);

  it('while its leg is on the wire, which then comes back: the call is completed, with its result [P1]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'held' });
    await until(() => sends(id) === 1);
    await terminate(id);
    await graceIsOver();
    expect((await reconcile(parley)).report).toMatchObject({ repaired: [], left: [] });
    expect(await invocation(parley, id)).toMatchObject({ status: 'sending', outcome: null });
    for (const reply of release.splice(0)) reply();
    expect(await repaired(id)).toBe('call_closed completed/complete_result');
    expect(await invocation(parley, id)).toMatchObject({ outcome: 'completed', result: { content: [{ text: 'done' }] }, leg: 1 });
    expect(sends(id)).toBe(1);
  }, 90_000);

  it('after a person has answered, and the retry comes back: the call is completed at leg 2 [P1]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'held_later' });
    await accept(parley, await asked(parley, id), { go: { ok: true } });
    await until(() => sends(id) === 2);
    await terminate(id);
    for (const reply of release.splice(0)) reply();
    expect(await repaired(id)).toBe('call_closed completed/complete_result');
    expect(await invocation(parley, id)).toMatchObject({ outcome: 'completed', result: { content: [{ text: 'done' }] }, leg: 2 });
  }, 90_000);

  it('and the server says no: the call has failed, with what the server said', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'fails' });
    await until(() => sends(id) === 1);
    await terminate(id);
    for (const reply of release.splice(0)) reply();
    expect(await repaired(id)).toBe('call_closed failed/server_error');
    expect(await invocation(parley, id)).toMatchObject({ outcome: 'failed', problem: { detail: { message: 'no' } } });
  }, 90_000);

  it('with a leg of which nobody knows what came: the call is indeterminate [P1]', async () => {
    const id = await start(parley, { server: 'brief', tool: 'held' });
    await until(() => sends(id) === 1);
    await parley.process('worker').kill();
    await terminate(id);
    await parley.start('worker');
    expect(await repaired(id)).toBe('call_closed indeterminate/leg_unknown');
    expect(await invocation(parley, id)).toMatchObject({ outcome: 'indeterminate', reason: 'leg_unknown' });
    expect(sends(id)).toBe(1);
  }, 90_000);

  it('is closed by a cancellation at once, with what the ledger knows', async () => {
    const id = await start(parley, deploy);
    const consent = await asked(parley, id);
    await terminate(id);
    const reply = await parley.api(`/v1/invocations/${id}/cancel`, { method: 'POST', idempotencyKey: randomUUID() });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ outcome: 'cancelled', reason: 'terminated' });
    expect((await parley.api(`/v1/consents/${consent.id}`)).body.status).toBe('withdrawn');
  });
});

describe('a workflow that was deleted', () => {
  it('while a person is asked: the call is cancelled', async () => {
    const id = await start(parley, deploy);
    await asked(parley, id);
    const workflowExecution = { workflowId: idOf(id) };
    await connection.workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution });
    expect(await repaired(id)).toBe('call_closed cancelled/terminated');
    expect(await invocation(parley, id)).toMatchObject({ outcome: 'cancelled', reason: 'terminated' });
  }, 90_000);
});

describe('a workflow that has completed', () => {
  it('and whose record was not written: the record is restored from what it returned', async () => {
    const id = await start(parley, { tool: 'echo', arguments: { text: 'hello' } });
    const before = await outcome(parley, id);
    const open = { status: '"sending"', outcome: 'null', reason: 'null', result: 'null', updatedAt: '1' };
    await redis.hSet(key('record', 't1', id), open);
    await redis.zAdd(key('open-records'), { value: `t1/${id}`, score: 1 });
    expect(await repaired(id)).toBe('call_restored completed/complete_result');
    expect({ ...(await invocation(parley, id)), updatedAt: before.updatedAt }).toEqual(before);
  }, 90_000);
});

describe('a call that is alive', () => {
  it('is left alone, in every tenant, and can be answered afterwards', async () => {
    const mine = await start(parley, deploy);
    const consent = await asked(parley, mine);
    const other = { tenant: 't2' };
    const foreign = await start(parley, { ...deploy, as: other });
    const seen = () => parley.api(`/v1/invocations/${foreign}`, { as: other });
    await until(async () => (await seen()).body.status === 'awaiting_input');
    const before = (await seen()).body;
    await graceIsOver();

    const { code, report } = await reconcile(parley);
    expect(report).toMatchObject({ repaired: [], left: [] });
    expect(code).toBe(0);
    expect(report.seen.records).toBeGreaterThanOrEqual(2);
    expect((await seen()).body).toEqual(before);
    await accept(parley, consent, deployTo('staging'));
    expect(await outcome(parley, mine)).toMatchObject({ outcome: 'completed' });
  }, 60_000);

  it('is left alone where another namespace is asked, in which no workflow of it would be', async () => {
    const id = await start(parley, deploy);
    await asked(parley, id);
    const marker = key('temporal-namespace');
    const home = await redis.getSet(marker, 'another');
    await terminate(id);
    await graceIsOver();
    const { code, report } = await reconcile(parley);
    expect([code, report.left.map((each) => each.code)]).toEqual([1, ['other_namespace']]);
    expect(await invocation(parley, id)).toMatchObject({ outcome: null });
    await redis.set(marker, home ?? '');
    expect(await repaired(id)).toBe('call_closed cancelled/terminated');
  }, 90_000);
});

describe('a store that has lost its indexes', () => {
  it('is looked through once for what is open', async () => {
    const id = await start(parley, deploy);
    await asked(parley, id);
    await redis.del([key('open-records'), key('open-consents'), key('temporal-namespace')]);
    await terminate(id);
    expect(await repaired(id)).toBe('call_closed cancelled/terminated');
  }, 90_000);
});

describe('the report', () => {
  it('is text for people without --json, and an unknown option is no run', async () => {
    const people = await runByHand(parley, []);
    expect([people.code, people.out]).toEqual([0, expect.stringMatching(/nothing is left\n$/)]);
    expect(people.err).toMatch(/^reconcile \| connecting .*\n(reconcile \| .+\n)+$/);
    const wrong = await runByHand(parley, ['--all']);
    expect([wrong.code, wrong.out]).toEqual([2, '']);
  }, 90_000);
});

describe('a worker', () => {
  it('reconciles soon after its start and regularly, and writes one line about each run', async () => {
    await parley.process('worker').stop();
    await parley.start('worker', { PARLEY_RECONCILE_INTERVAL: 'PT1S' });
    const id = await start(parley, deploy);
    await asked(parley, id);
    await terminate(id);
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'cancelled', reason: 'terminated' });
    const lines = parley.logs().filter((line) => line.includes('"event":"reconciled"'));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('\n')).toContain('"repaired":{"call_closed":1}');
    await parley.restartWorker('stop');
  }, 90_000);
});
