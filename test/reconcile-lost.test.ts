/**
 * What was lost with a store, a worker or a Temporal that was away, and is found again by the reconciler: calls that were never started,
 * questions that nobody sees, answers that nobody has heard. And nothing of it is kept for ever.
 */

import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import {
  accept,
  acceptLater,
  answer,
  asked,
  auditOf,
  deployTo,
  exampleLegs,
  outcome,
  post,
  start,
} from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { reconcile } from './harness/reconcile.js';
import { scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';
import { TcpGate } from './harness/tcp-gate.js';
import { temporalClient } from './harness/temporal.js';

const graceMs = 1_000;
const deploy = { tool: 'deploy', arguments: { artifact: 'build-8' } };
const env = { PARLEY_RECONCILE_INTERVAL: 'PT0S', PARLEY_RECONCILE_GRACE: 'PT1S' };

let parley: Parley;
let scripted: ScriptedServer;
let gate: TcpGate;
let temporal: Client;
const redis = createClient({ url: inject('redisUrl') });

beforeAll(async () => {
  temporal = await temporalClient();
  await redis.connect();
  gate = await new TcpGate(new URL(`http://${inject('temporalAddress')}`)).open();
  scripted = await scriptedServer([tool('silent'), tool('large')], (call, reply) => {
    if ((call.params as { name: string }).name === 'silent') return;
    reply.result({ resultType: 'complete', content: [{ type: 'text', text: 'x'.repeat(200_000) }] });
  });
  const servers = [{ id: 'scripted', url: scripted.url, policy: { legDeadline: 'PT3S' } }];
  parley = await startParley({ servers, env: { ...env, TEMPORAL_ADDRESS: new URL(gate.url).host } });
});
afterAll(async () => {
  await parley?.stop();
  await gate?.shut();
  await scripted?.close();
  await temporal?.connection.close();
  redis.destroy();
});

const graceIsOver = () => new Promise((over) => setTimeout(over, graceMs + 100));
const isStarted = (id: string) =>
  temporal.workflow
    .getHandle(workflowId('t1', id as InvocationId))
    .describe()
    .then(
      () => true,
      () => false,
    );
const cancel = (id: string) => parley.api(`/v1/invocations/${id}/cancel`, { method: 'POST', idempotencyKey: randomUUID() });
async function keysOf(pattern: string): Promise<string[]> {
  const found: string[] = [];
  const MATCH = `${parley.env['PARLEY_REDIS_PREFIX']}:${pattern}`;
  for await (const names of redis.scanIterator({ MATCH, COUNT: 1_000 })) found.push(...names);
  return found;
}
async function lose(pattern: string): Promise<void> {
  const names = await keysOf(pattern);
  expect(names.length).toBeGreaterThan(0);
  await redis.del(names);
}

/** A POST while Temporal is away: the call is stored, and not started. */
async function storedOnly(key: string): Promise<string> {
  const artifact = randomUUID();
  await gate.shut();
  const reply = await post(parley, { ...deploy, arguments: { artifact }, key });
  expect([reply.status, reply.body.code]).toEqual([503, 'temporal_unavailable']);
  const { body } = await parley.api('/v1/invocations?limit=1');
  kept.set(body.items[0].id, { ...deploy, arguments: { artifact }, key });
  return body.items[0].id;
}
const kept = new Map<string, typeof deploy & { key: string }>();

describe('a call that was stored while Temporal was away', () => {
  it('is left alone as long as nobody can say that it was not started', async () => {
    const id = await storedOnly('away-1');
    await graceIsOver();
    const away = await reconcile(parley);
    expect([away.code, away.report.repaired]).toEqual([1, []]);
    expect(away.report.left).toEqual([expect.objectContaining({ invocation: null, code: 'temporal_unavailable' })]);
    expect((await parley.api(`/v1/invocations/${id}`)).body).toMatchObject({ status: 'sending', outcome: null });

    await gate.open();
    await until(async () => (await reconcile(parley)).report.repaired.some((each) => each.invocation === id), 60_000);
    const closed = (await parley.api(`/v1/invocations/${id}`)).body;
    expect(closed).toMatchObject({ status: 'closed', outcome: 'unreachable', reason: 'never_started' });
    expect((await auditOf(parley, id)).at(-1)).toMatchObject({
      type: 'reconciled',
      outcome: 'unreachable',
      reason: 'never_started',
    });

    const again = await post(parley, kept.get(id)!);
    expect([again.status, again.body]).toEqual([200, closed]);
    expect(await isStarted(id)).toBe(false);
  }, 120_000);

  it('is started by a repetition that comes before', async () => {
    const id = await storedOnly('away-2');
    await gate.open();
    const again = await until(async () => {
      const reply = await post(parley, kept.get(id)!);
      return reply.status === 202 ? reply.body : undefined;
    });
    expect(again.id).toBe(id);
    await asked(parley, id);
    await graceIsOver();
    expect((await reconcile(parley)).report).toMatchObject({ repaired: [], left: [] });
    await cancel(id);
  }, 60_000);

  it('is cancelled at once where there is nothing to cancel, and then not started any more', async () => {
    const id = await storedOnly('away-3');
    await gate.open();
    const reply = await until(async () => {
      const answered = await cancel(id);
      return answered.status === 200 ? answered : undefined;
    });
    expect(reply.body).toMatchObject({ status: 'closed', outcome: 'cancelled', reason: 'cancel_requested' });
    expect((await auditOf(parley, id)).at(-1)).toMatchObject({ type: 'reconciled', outcome: 'cancelled', actor: 'user-1' });
    const again = await post(parley, kept.get(id)!);
    expect([again.status, again.body.outcome]).toEqual([200, 'cancelled']);
    expect(await isStarted(id)).toBe(false);
  }, 60_000);
});

describe('a question that the store has lost', () => {
  it('comes back under the same id, and its answer counts [P2] [P3]', async () => {
    const id = await start(parley, deploy);
    const consent = await asked(parley, id);
    await lose(`*${consent.id}*`);
    await graceIsOver();
    const { code, report } = await reconcile(parley);
    expect([code, report.repaired]).toEqual([
      0,
      [expect.objectContaining({ invocation: id, code: 'workflow_nudged', detail: 'consent_lost' })],
    ]);
    const again = await until(async () => {
      const reply = await parley.api(`/v1/consents/${consent.id}`);
      return reply.status === 200 ? reply.body : undefined;
    });
    expect(again).toEqual(consent);
    await accept(parley, again, deployTo('staging'));
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
  }, 60_000);
});

describe('an answer that no worker hears', () => {
  it('is asked after once, then reported, and counts when a worker comes [P2] [P3]', async () => {
    const id = await start(parley, deploy);
    const consent = await asked(parley, id);
    await parley.process('worker').stop();
    await acceptLater(parley, consent, deployTo('staging'));
    const said: string[] = [];
    await until(async () => {
      await graceIsOver();
      const { code, report } = await reconcile(parley);
      said.push(
        ...report.repaired.map((each) => `repaired ${each.code}`),
        ...report.left.map((each) => `left ${each.code}, ${code}`),
      );
      return said.length === 2;
    }, 60_000);
    expect(said).toEqual(['repaired workflow_nudged', 'left answer_not_sent, 1']);
    await parley.start('worker');
    expect(await outcome(parley, id, 40_000)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect((await reconcile(parley)).report).toMatchObject({ repaired: [], left: [] });
  }, 120_000);
});

describe('a leg whose time is over while no worker notices', () => {
  it('is reported, and nothing is decided for its workflow [P1]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'silent' });
    await until(() => scripted.calls.some((call) => call.id.startsWith(id)));
    await parley.process('worker').kill();
    const left = await until(async () => {
      const { report } = await reconcile(parley);
      return report.left.length > 0 && report.left;
    }, 60_000);
    expect(left).toEqual([expect.objectContaining({ invocation: id, code: 'leg_stuck' })]);
    expect((await parley.api(`/v1/invocations/${id}`)).body.outcome).toBeNull();
    await parley.start('worker');
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'indeterminate', reason: 'leg_unknown' });
  }, 120_000);
});

describe('a store that was wiped', () => {
  it('shows its calls as lost, to everybody they belong to, before anybody answers in vain [P1]', async () => {
    const id = await start(parley, deploy);
    const consent = await asked(parley, id);
    const other = { tenant: 't2', sub: 'user-9' };
    const foreign = await start(parley, { ...deploy, as: other });
    await until(async () => (await parley.api(`/v1/invocations/${foreign}`, { as: other })).body.status === 'awaiting_input');
    await lose('*');
    await graceIsOver();
    await until(async () => (await reconcile(parley)).report.repaired.length === 0, 60_000);
    for (const [of, as] of [
      [id, {}],
      [foreign, other],
    ] as const) {
      const lost = await until(async () => {
        const { status, body } = await parley.api(`/v1/invocations/${of}`, { as });
        return status === 200 && body.outcome !== null ? body : undefined;
      });
      expect(lost).toMatchObject({ outcome: 'binding_lost', reason: 'ledger_lost', consent: null });
      expect(exampleLegs(parley, of)).toHaveLength(1);
    }
    const late = await answer(parley, consent, { target: { action: 'accept', content: deployTo('staging').target } });
    expect([404, 409]).toContain(late.status);
    expect((await reconcile(parley)).report).toMatchObject({ repaired: [], left: [] });
  }, 120_000);
});

describe('a store that was used', () => {
  /** What it is about, and the indexes of what is open, which the reconciler prunes. */
  const unlimited = ['epoch', 'clock', 'temporal-namespace', 'open-records', 'open-consents'];

  it('keeps nothing for ever', async () => {
    const large = await start(parley, { server: 'scripted', tool: 'large' });
    await outcome(parley, large);
    const done = await start(parley, deploy);
    await accept(parley, await asked(parley, done), deployTo('staging'));
    await outcome(parley, done);
    await asked(parley, await start(parley, deploy));
    await graceIsOver();
    await reconcile(parley);

    const kindOf = (name: string) => name.split(':')[1] ?? '';
    const names = await keysOf('*');
    const kinds = new Set(names.map(kindOf));
    const expected = [
      'record',
      'records-of',
      'ledger',
      'blob',
      'state',
      'audit',
      'consent',
      'open-consents-of',
      'receipt',
      'idempotency',
    ];
    expect([...kinds]).toEqual(expect.arrayContaining([...expected, ...unlimited]));
    const lives = await Promise.all(names.map((name) => redis.pTTL(name)));
    const forEver = names.filter((_, n) => lives[n] === -1);
    expect(forEver.filter((name) => !unlimited.includes(kindOf(name)))).toEqual([]);
  }, 60_000);

  it('names nothing as open that is not', async () => {
    for (const index of ['open-records', 'open-consents']) {
      const key = `${parley.env['PARLEY_REDIS_PREFIX']}:${index}`;
      await redis.zAdd(key, [
        { value: `t1/inv_${'0'.repeat(32)}`, score: 1 },
        { value: `t1/cns_${'0'.repeat(32)}`, score: 1 },
      ]);
    }
    const { body } = await parley.api('/v1/consents');
    await reconcile(parley);
    expect(await redis.zRange(`${parley.env['PARLEY_REDIS_PREFIX']}:open-consents`, 0, -1)).toEqual(
      body.items.map((each: any) => `t1/${each.id}`),
    );
    expect(await redis.zRange(`${parley.env['PARLEY_REDIS_PREFIX']}:open-records`, 0, -1)).toEqual(
      body.items.map((each: any) => `t1/${each.invocation}`),
    );
  });
});
