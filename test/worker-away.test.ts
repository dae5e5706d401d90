/** Promise 2, the other half: while a worker is away the API works, and what it takes counts when a worker comes. */

import { describe, expect, it } from 'vitest';
import { accept, answer, asked, auditOf, deployTo, exampleLegs, outcome, post, start } from './harness/conversation.js';
import { halfAsked } from './harness/half-asked.js';
import type { Parley } from './harness/parley.js';
import { undoAfterEach } from './harness/undo.js';

const undo = undoAfterEach();

const yes = { target: { action: 'accept', content: deployTo('staging').target } };
const deploy = { tool: 'deploy', arguments: { artifact: 'build-3' } };

/** Its worker has shown a question, and is gone. */
async function withoutWorker(): Promise<Parley> {
  const parley = await undo.parleyOf();
  await asked(parley, await start(parley, deploy));
  await parley.process('worker').stop();
  return parley;
}

describe('a question whose worker dies before Temporal has heard that it was asked', () => {
  it('can be answered: the answer counts [P2] [P3]', async () => {
    const parley = await withoutWorker();
    const id = await halfAsked(
      parley,
      () => start(parley, deploy),
      async (consent) => {
        const reply = await answer(parley, consent, yes);
        expect(reply.status, reply.text).toBe(202);
      },
    );
    expect(await outcome(parley, id, 40_000)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(parley.example.effects().byTool).toEqual({ deploy: 1 });
    expect((await auditOf(parley, id)).filter((event) => event.type === 'answer_refused')).toEqual([]);
  }, 90_000);

  it('can be withdrawn: no later answer counts [P3] [P6]', async () => {
    const parley = await withoutWorker();
    const as = { sub: 'operator', scopes: ['calls:operate'] };
    let consent: any;
    const id = await halfAsked(
      parley,
      () => start(parley, deploy),
      async (shown) => {
        consent = shown;
        const withdrawn = await parley.api(`/v1/consents/${shown.id}/withdraw`, { method: 'POST', idempotencyKey: 'w', as });
        expect(withdrawn.status, withdrawn.text).toBe(202);
      },
    );
    expect(await outcome(parley, id, 40_000)).toMatchObject({ outcome: 'cancelled', reason: 'consent_withdrawn' });
    expect((await answer(parley, consent, yes)).status).toBe(409);
    expect(exampleLegs(parley, id)).toHaveLength(1);
  }, 90_000);
});

describe('the API without a worker', () => {
  it('takes a call and an answer with 202, and both count when a worker comes [P2] [P3]', async () => {
    const parley = await undo.parleyOf();
    const parked = await start(parley, deploy);
    const consent = await asked(parley, parked);
    await parley.process('worker').stop();

    const reply = await answer(parley, consent, yes, { key: 'while away' });
    expect(reply.status, reply.text).toBe(202);
    expect(reply.body).toMatchObject({ verdict: 'pending', consent: consent.id, receipt: { id: expect.any(String) } });
    const started = await post(parley, { ...deploy, waitSeconds: 1 });
    expect(started.status).toBe(202);
    expect(started.body).toMatchObject({ status: 'sending', leg: 1, outcome: null });
    expect(exampleLegs(parley, started.body.id)).toHaveLength(0);

    await parley.start('worker');
    expect(await outcome(parley, parked)).toMatchObject({ outcome: 'completed', leg: 2 });
    await accept(parley, await asked(parley, started.body.id), deployTo('staging'));
    expect(await outcome(parley, started.body.id)).toMatchObject({ outcome: 'completed' });
    expect(parley.example.effects().byTool).toEqual({ deploy: 2 });
  }, 90_000);

  it('stops cleanly with a call that is parked, and so does a worker: both exit with 0 [P2]', async () => {
    const parley = await undo.parleyOf();
    const id = await start(parley, deploy);
    await asked(parley, id);
    const exits = await Promise.all([parley.process('worker').stop(), parley.process('api').stop()]);
    expect(exits).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
  }, 60_000);
});
