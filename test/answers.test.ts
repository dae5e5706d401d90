/** Promises 3 and 6: whose answer counts, when, and that only a person makes one. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accept, answer, asked, auditOf, deployTo, exampleLegs, invocation, outcome, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';

let parley: Parley;
beforeAll(async () => {
  parley = await startParley();
});
afterAll(async () => parley?.stop());

const yes = { target: { action: 'accept', content: deployTo('staging').target } };
const deploy = { tool: 'deploy', arguments: { artifact: 'build-1' } };

describe('an answer', () => {
  it.each([
    ['another tenant', { tenant: 't2', sub: 'user-1' }],
    ['another subject of the tenant', { sub: 'user-2' }],
    ['the agent that started the call', { sub: 'agent-1', actFor: ['*'] }],
  ])('from %s is refused as if the consent did not exist [P3]', async (_who, as) => {
    const id = await start(parley, { ...deploy, subject: 'user-1', as: { sub: 'agent-1', actFor: ['user-1'] } });
    const consent = await asked(parley, id);
    const reply = await answer(parley, consent, yes, { as });
    expect(reply.status).toBe(404);
    expect(reply.body.code).toBe('consent_unknown');
    expect((await parley.api(`/v1/consents/${consent.id}`, { as })).status).toBe(404);
    expect(exampleLegs(parley, id)).toHaveLength(1);
    await accept(parley, consent, deployTo('staging'));
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed' });
  });

  it('to an id that is none leaves nothing of what was typed on the audit record', async () => {
    const reply = await answer(parley, { id: 'typed-by-hand', digest: 'sha256:0' }, yes);
    expect([reply.status, reply.body.code]).toEqual([404, 'consent_unknown']);
    const audit = await parley.api('/v1/audit?limit=100');
    expect(audit.body.items).toContainEqual(expect.objectContaining({ type: 'answer_refused', code: 'consent_unknown' }));
    expect(audit.text).not.toContain('typed-by-hand');
  });

  it('is held to the size that was allowed when its call started, before it is accepted and not after', async () => {
    const strict = await startParley({ policy: { maxAnswerBytes: 60 } });
    try {
      const id = await start(strict, deploy);
      const consent = await asked(strict, id);
      await strict.register([], {});
      await Promise.all([strict.restartApi(), strict.restartWorker()]);
      const reply = await answer(strict, consent, yes);
      expect(reply.status, reply.text).toBe(422);
      expect(reply.body.errors).toMatchObject([{ code: 'answer_too_large' }]);
      expect((await answer(strict, consent, { target: { action: 'decline' } })).status).toBe(200);
      expect(await outcome(strict, id)).toMatchObject({ leg: 2 });
    } finally {
      await strict.stop();
    }
  }, 60_000);

  it('to something else than what was shown is refused (answer_mismatch) [P3]', async () => {
    const id = await start(parley, deploy);
    const consent = await asked(parley, id);
    const reply = await answer(parley, consent, yes, { digest: `sha256:${'0'.repeat(64)}` });
    expect(reply.status).toBe(409);
    expect(reply.body.code).toBe('answer_mismatch');
    const events = await auditOf(parley, id);
    expect(events).toContainEqual(expect.objectContaining({ type: 'answer_refused', code: 'answer_mismatch' }));
  });

  it('that does not fit the form is refused field by field, and the round stays open (answer_invalid)', async () => {
    const id = await start(parley, deploy);
    const consent = await asked(parley, id);
    const reply = await answer(parley, consent, { target: { action: 'accept', content: { environment: 'moon', extra: 1 } } });
    expect(reply.status).toBe(422);
    expect(reply.body.code).toBe('answer_invalid');
    expect(reply.body.errors.map((error: any) => error.pointer).toSorted()).toEqual([
      '/responses/target/content/confirm',
      '/responses/target/content/environment',
      '/responses/target/content/extra',
    ]);
    expect(reply.text).not.toContain('moon');
    await accept(parley, consent, deployTo('staging'));
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
  });

  it('is used once: later ones are told that the round is answered, and are recorded [P3]', async () => {
    const id = await start(parley, deploy);
    const consent = await asked(parley, id);
    await accept(parley, consent, deployTo('staging'));
    await outcome(parley, id);
    const late = await answer(parley, consent, yes);
    expect(late.status).toBe(409);
    expect(late.body.code).toBe('consent_answered');
    expect(exampleLegs(parley, id)).toHaveLength(2);
    const refusals = (await auditOf(parley, id)).filter((event) => event.type === 'answer_refused');
    expect(refusals.map((event) => event.code)).toEqual(['consent_answered']);
  });

  it('with the key of another answer is refused (idempotency_key_reused) [P3]', async () => {
    const id = await start(parley, deploy);
    const consent = await asked(parley, id);
    const first = await answer(parley, consent, yes, { key: 'my key' });
    const again = await answer(parley, consent, yes, { key: 'my key' });
    const other = await answer(parley, consent, { target: { action: 'decline' } }, { key: 'my key' });
    expect(again.body).toEqual(first.body);
    expect(again.status).toBe(first.status);
    expect(other.status).toBe(422);
    expect(other.body.code).toBe('idempotency_key_reused');
  });

  it('of one call does not touch a call that runs beside it [P3]', async () => {
    const [one, two] = await Promise.all([start(parley, deploy), start(parley, deploy)]);
    const consents = [await asked(parley, one), await asked(parley, two)];
    await accept(parley, consents[0], deployTo('staging'));
    await outcome(parley, one);
    expect(await invocation(parley, two)).toMatchObject({ status: 'awaiting_input', consent: consents[1].id });
    expect(exampleLegs(parley, two)).toHaveLength(1);
  });
});

describe('time that passes without an answer', () => {
  it('expires the round, and the server is sent nothing, no decline either [P6]', async () => {
    const id = await start(parley, { ...deploy, policy: { roundDeadline: 'PT0.4S' } });
    const consent = await asked(parley, id);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'expired', reason: 'round_deadline', consent: null });
    expect(exampleLegs(parley, id)).toHaveLength(1);
    const late = await answer(parley, consent, yes);
    expect(late.status).toBe(410);
    expect(late.body.code).toBe('consent_expired');
    expect((await parley.api(`/v1/consents/${consent.id}`)).body.status).toBe('expired');
    const codes = (await auditOf(parley, id)).filter((event) => event.type === 'answer_refused').map((event) => event.code);
    expect(codes).toEqual(['consent_expired']);
  });

  it('ends the whole call at its own deadline, which is shown as the round’s when it comes first [P6]', async () => {
    const id = await start(parley, { ...deploy, policy: { callDeadline: 'PT2S' } });
    await asked(parley, id);
    const open = await invocation(parley, id);
    expect(Date.parse(open.deadline)).toBe(Date.parse(open.startedAt) + 2_000);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'expired', reason: 'call_deadline' });
    expect(exampleLegs(parley, id)).toHaveLength(1);
  });

  it('is not the time of a leg: a person may think longer than a leg may take', async () => {
    const id = await start(parley, { ...deploy, policy: { legDeadline: 'PT1S' } });
    const consent = await asked(parley, id);
    await until(() => Date.now() > Date.parse(consent.openedAt) + 1_200);
    await accept(parley, consent, deployTo('staging'));
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed' });
  });
});
