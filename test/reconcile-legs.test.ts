/**
 * Legs that the ledger alone still knows: begun, and neither record nor workflow of their call is left; or back after their call was closed
 * without them. None of them is lost from sight (promise 1), and no outcome is changed afterwards.
 */

import { createClient } from 'redis';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import { maxLegDeadlineMs } from '../domain/policy.js';
import { Ledger } from '../src/ledger/ledger.js';
import { Keys } from '../src/store/keys.js';
import { connectRedis } from '../src/store/redis.js';
import { asked, auditOf, invocation, outcome, start } from './harness/conversation.js';
import { silentLog } from './harness/fresh-store.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { reconcile, runByHand } from './harness/reconcile.js';
import { asking, done, scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';
import { temporalClient } from './harness/temporal.js';

let parley: Parley;
let scripted: ScriptedServer;
const redis = createClient({ url: inject('redisUrl') });
const release: (() => void)[] = [];

beforeAll(async () => {
  await redis.connect();
  scripted = await scriptedServer([tool('held'), tool('asks')], ({ params }, reply) => {
    if (params['name'] === 'held') return void release.push(() => reply.result(done));
    return reply.result({ resultType: 'input_required', inputRequests: asking('go', { ok: { type: 'boolean' } }) });
  });
  const servers = [{ id: 'scripted', url: scripted.url, policy: { legDeadline: 'PT5S' } }];
  const env = { PARLEY_RECONCILE_INTERVAL: 'PT0S', PARLEY_RECONCILE_GRACE: 'PT1S' };
  parley = await startParley({ servers, env });
});
beforeEach(() => void release.splice(0));
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
  redis.destroy();
});

const key = (...parts: string[]) => [parley.env['PARLEY_REDIS_PREFIX'], ...parts].join(':');
const ledgerOf = (id: string) => key('ledger', 't1', id);

/** A leg on the wire. */
async function sent(): Promise<string> {
  const id = await start(parley, { server: 'scripted', tool: 'held' });
  await until(() => release.length === 1);
  return id;
}

async function terminate(id: string): Promise<void> {
  const temporal = await temporalClient();
  await temporal.workflow.getHandle(workflowId('t1', id as InvocationId)).terminate('a test');
  await temporal.connection.close();
}

async function losesItsRecord(id: string): Promise<void> {
  await redis.del(key('record', 't1', id));
  await redis.zRem(key('open-records'), `t1/${id}`);
}

/** As its activity does it, had its process only been slow. */
async function comesBack(id: string): Promise<void> {
  const store = await connectRedis(inject('redisUrl'), silentLog);
  const token = (await store.hGet(ledgerOf(id), '1.token')) ?? '';
  const result = { in: 'store', leg: 1, bytes: 1 } as const;
  const ledger = new Ledger(store, new Keys(parley.env['PARLEY_REDIS_PREFIX'] ?? ''));
  const leg = { tenant: 't1', invocation: id, leg: 1, try: 1, token };
  await ledger.finish(leg, { outcome: { is: 'completed', result, isError: false } });
  store.destroy();
}

/** As if it was begun so long ago that no policy lets it run on. */
async function grewOld(id: string): Promise<void> {
  const begunAt = Number(await redis.hGet(ledgerOf(id), '1.begunAt'));
  await redis.hSet(ledgerOf(id), '1.begunAt', String(begunAt - maxLegDeadlineMs - 2_000));
}

const aboutIt = (findings: readonly { invocation: string | null }[], id: string) =>
  findings.filter((each) => each.invocation === id);

describe('a leg that was begun, of a call whose record and workflow are gone', () => {
  it('is left, with its age, until an operator acknowledges it [P1]', async () => {
    const id = await sent();
    await parley.process('worker').kill();
    await terminate(id);
    await losesItsRecord(id);
    await parley.start('worker');
    expect((await reconcile(parley)).report.left).toEqual([]);
    await grewOld(id);

    const found = await reconcile(parley);
    expect(found.code).toBe(1);
    expect(found.report.left).toEqual([
      expect.objectContaining({ tenant: 't1', invocation: id, code: 'leg_unaccounted', leg: 1, ageMs: expect.any(Number) }),
    ]);
    expect(found.report.left[0]?.ageMs).toBeGreaterThan(maxLegDeadlineMs);
    expect((await reconcile(parley)).report.left).toHaveLength(1);

    const acknowledging = await runByHand(parley, ['--json', '--acknowledge', `t1/${id}`]);
    expect(JSON.parse(acknowledging.out)).toMatchObject({ repaired: [{ invocation: id, code: 'leg_acknowledged' }], left: [] });
    expect((await auditOf(parley, id)).at(-1)).toMatchObject({
      type: 'reconciled',
      code: 'leg_acknowledged',
      leg: 1,
      actor: 'operator',
    });
    expect(await reconcile(parley)).toMatchObject({ code: 0, report: { repaired: [], left: [] } });

    const again = await runByHand(parley, ['--json', '--acknowledge', `t1/${id}`]);
    expect([again.code, JSON.parse(again.out).left[0].code]).toEqual([1, 'nothing_to_acknowledge']);
  }, 90_000);

  it('is no news where its workflow is alive', async () => {
    const id = await sent();
    await losesItsRecord(id);
    await grewOld(id);
    const { report } = await reconcile(parley);
    expect(aboutIt(report.left, id)).toEqual([]);
    for (const reply of release.splice(0)) reply();
    // On a busy machine its deadline may have come first.
    await until(async () => typeof (await parley.api(`/v1/invocations/${id}`)).body.outcome === 'string', 40_000);
  }, 60_000);

  it('is no news when its call was closed as indeterminate, however long its record is gone', async () => {
    const id = await sent();
    await parley.process('worker').kill();
    await parley.start('worker');
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'indeterminate' });
    await losesItsRecord(id);
    await grewOld(id);
    expect(await reconcile(parley)).toMatchObject({ code: 0, report: { repaired: [], left: [] } });
  }, 90_000);
});

describe('a leg that came back after its call was closed as indeterminate', () => {
  it('is put on record, and the outcome stays [P1]', async () => {
    const id = await sent();
    await parley.process('worker').kill();
    await parley.start('worker');
    const closed = await outcome(parley, id, 60_000);
    expect(closed).toMatchObject({ outcome: 'indeterminate', problem: { detail: null } });
    await comesBack(id);

    const { report: said } = await reconcile(parley);
    expect(aboutIt(said.repaired, id)).toEqual([
      expect.objectContaining({ code: 'leg_settled_late', detail: 'leg 1: completed' }),
    ]);
    const detail = { message: 'leg 1 came back after the call was closed: completed' };
    expect(await invocation(parley, id)).toEqual({ ...closed, problem: { ...closed.problem, detail } });
    expect((await auditOf(parley, id)).at(-1)).toMatchObject({ type: 'leg_settled_late', leg: 1, code: 'completed' });
    expect((await reconcile(parley)).report).toMatchObject({ repaired: [], left: [] });
  }, 90_000);

  it('is no news where it had come back before, and the call was closed so because its record says too little', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'asks' });
    await asked(parley, id);
    await terminate(id);
    await redis.hDel(key('record', 't1', id), 'ledgerEpoch');
    const closed = await until(async () => {
      await reconcile(parley);
      const seen = await invocation(parley, id);
      return seen.outcome === null ? undefined : seen;
    }, 60_000);
    expect(closed).toMatchObject({ outcome: 'indeterminate', problem: { detail: null } });
    expect(aboutIt((await reconcile(parley)).report.repaired, id)).toEqual([]);
    expect(await invocation(parley, id)).toEqual(closed);
    expect((await auditOf(parley, id)).map(({ type }) => type)).not.toContain('leg_settled_late');
  }, 120_000);
});
