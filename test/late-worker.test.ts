/** Promises 2 and 3 when several things happened to a question before a worker came back to hear of them. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { answer, asked, auditOf, deployTo, exampleLegs, outcome, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';

let parley: Parley;
beforeAll(async () => {
  parley = await startParley({ worker: false });
});
beforeEach(async () => void (await parley.start('worker')));
afterAll(async () => parley?.stop());

const yes = { target: { action: 'accept', content: deployTo('staging').target } };
const deploy = { tool: 'deploy', arguments: { artifact: 'build-9' } };

it('an answer that was given in time counts, though the worker comes back after the deadline [P2] [P3]', async () => {
  const id = await start(parley, { ...deploy, policy: { roundDeadline: 'PT5S' } });
  const consent = await asked(parley, id);
  await parley.process('worker').stop();
  const reply = await answer(parley, consent, yes);
  expect(reply.status, reply.text).toBe(202);
  await until(() => Date.now() > Date.parse(consent.deadline) + 500);
  expect((await answer(parley, consent, yes)).status).toBe(410);
  await parley.start('worker');
  expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
  await parley.process('worker').stop();
}, 60_000);

it('but nothing is sent any more once the call’s own deadline is over [P2]', async () => {
  const id = await start(parley, { ...deploy, policy: { callDeadline: 'PT8S' } });
  const consent = await asked(parley, id);
  await parley.process('worker').stop();
  expect((await answer(parley, consent, yes)).status).toBe(202);
  await until(() => Date.now() > Date.parse(consent.deadline) + 500);
  await parley.start('worker');
  expect(await outcome(parley, id)).toMatchObject({ outcome: 'expired', reason: 'call_deadline', leg: 1 });
  expect(exampleLegs(parley, id)).toHaveLength(1);
  expect((await parley.api(`/v1/consents/${consent.id}`)).body.status).toBe('answered');
  await parley.process('worker').stop();
}, 60_000);

it('an answer that counts and a cancellation right behind it make one story [P3]', async () => {
  const id = await start(parley, deploy);
  const consent = await asked(parley, id);
  await parley.process('worker').stop();
  await answer(parley, consent, yes, { key: 'just before' });
  await parley.api(`/v1/invocations/${id}/cancel`, { method: 'POST', idempotencyKey: randomUUID() });
  await parley.start('worker');
  expect(await outcome(parley, id)).toMatchObject({ outcome: 'cancelled', leg: 1 });
  expect((await answer(parley, consent, yes, { key: 'just before' })).body).toMatchObject({ verdict: 'accepted' });
  expect((await parley.api(`/v1/consents/${consent.id}`)).body.status).toBe('answered');
  expect(await auditOf(parley, id)).toContainEqual(expect.objectContaining({ type: 'answer_accepted', decision: 'accept' }));
}, 60_000);
