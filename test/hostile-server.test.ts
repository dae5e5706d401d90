/**
 * Servers that fill a call's history, or all that its policy allows: another run takes over, and nothing is lost between one and the next.
 * What ends after one answer is in the table of test/hostile.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import { cancelSignal, resumeSignal, answerSignal } from '../workflows/messages.js';
import { accept, answer, asked, auditOf, outcome, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { temporalClient } from './harness/temporal.js';
import { asking, done, scriptedServer, tool, type Reply, type ScriptedServer } from './harness/scripted-server.js';

const kibibyte = 1024;
const options = (count: number) => Array.from({ length: count }, (_, n) => `${n}`.padStart(kibibyte, 'x'));
const choices = (kibibytes: number) =>
  Object.fromEntries(Array.from({ length: kibibytes / 100 }, (_, n) => [`choice${n}`, { type: 'string', enum: options(50) }]));

let parley: Parley;
let scripted: ScriptedServer;
/** The retry of a call, as it waits for its reply. */
let held: Reply | undefined;
beforeAll(async () => {
  const tools = ['large_question', 'never_ready', 'ready_later', 'holds_the_retry'].map((name) => tool(name));
  scripted = await scriptedServer(tools, (call, reply) => {
    const { name, ...params } = call.params as { name: string };
    if ('inputResponses' in params && name === 'holds_the_retry' && held === undefined) return void (held = reply);
    if ('inputResponses' in params && name !== 'ready_later') return reply.result(done);
    switch (name) {
      case 'never_ready':
        return reply.result({ resultType: 'input_required', requestState: `${call.n}`.padStart(1_000_000) });
      case 'ready_later': {
        const leg = Number(call.id.split('.')[1]);
        if (leg === 12) return reply.result(done);
        const inputRequests = leg === 6 ? { inputRequests: asking('go', { text: { type: 'string' } }) } : {};
        return reply.result({ resultType: 'input_required', requestState: `${leg}`.padStart(1_000_000), ...inputRequests });
      }
      case 'holds_the_retry':
        return reply.result({ resultType: 'input_required', inputRequests: asking('go', { text: { type: 'string' } }) });
      default: {
        const requestState = 's'.repeat(250 * kibibyte);
        const inputRequests = asking('go', { ...choices(200), text: { type: 'string' } }, []);
        return reply.result({ resultType: 'input_required', inputRequests, requestState });
      }
    }
  });
  const gate = { maxStateBytes: 1_048_576, maxRoundBytes: 10_000 };
  const patient = { maxArgumentsBytes: 10_000, maxAnswerBytes: 10_000, maxPolls: 12, gate };
  parley = await startParley({
    servers: [
      { id: 'scripted', url: scripted.url },
      { id: 'patient', url: scripted.url, policy: patient },
    ],
  });
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
});

const call = (name: string, more: object = {}) => start(parley, { server: 'scripted', tool: name, ...more });

describe('a hostile server', () => {
  it('cannot end a call by filling its history: a new run takes over, until the budget of polls is spent', async () => {
    const id = await call('never_ready', { server: 'patient' });
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'rounds_exceeded', reason: 'poll_cap', leg: 13 });
    const temporal = await temporalClient();
    const { runId, raw } = await temporal.workflow.getHandle(workflowId('t1', id as InvocationId)).describe();
    expect(raw.workflowExecutionInfo?.firstRunId).not.toBe(runId);
    await temporal.connection.close();
  }, 90_000);

  it('and the next run asks, answers and remembers like the first', async () => {
    const id = await call('ready_later', { server: 'patient' });
    const consent = await asked(parley, id, 6, 60_000);
    const key = 'given once';
    const yes = { go: { action: 'accept', content: { text: 'yes' } } };
    expect((await answer(parley, consent, yes, { key })).status).toBe(200);
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'completed', leg: 12 });
    expect((await answer(parley, consent, yes, { key })).status).toBe(200);
  }, 90_000);

  it('and a cancellation is not lost between one run and the next [P1]', async () => {
    const id = await call('holds_the_retry');
    const consent = await asked(parley, id);
    await accept(parley, consent, { go: { text: 'yes' } });
    const retry = await until(() => held);
    const temporal = await temporalClient();
    const workflow = temporal.workflow.getHandle(workflowId('t1', id as InvocationId));
    // A history that is long enough for another run, and refusals that take a while to be put on record.
    for (let n = 0; n < 5; n += 1) await workflow.signal(resumeSignal.name, 'x'.repeat(1_000_000));
    const late = { consent: consent.id, viewDigest: '', actor: 'user-1', tenant: 't1', decision: 'accept', responses: '' };
    for (let n = 0; n < 2_000; n += 50) {
      const some = Array.from({ length: 50 }, (_, m) => ({ ...late, answerId: `late ${n + m}` }));
      await Promise.all(some.map((each) => workflow.signal(answerSignal.name, each)));
    }
    const before = (await auditOf(parley, id)).at(-1).id;
    const refused = async () => (await parley.api(`/v1/audit?limit=1&after=${before}`)).body.items[0]?.type === 'answer_refused';
    const error = { code: -32020, message: 'header mismatch' };
    const message = JSON.stringify({ jsonrpc: '2.0', id: `${id}.2`, error });
    retry.raw.writeHead(400, { 'content-type': 'application/json' }).end(message);
    await until(refused);
    await workflow.signal(cancelSignal.name, { by: 'user-1' });
    expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'cancelled', reason: 'cancel_requested' });
    expect(scripted.calls.filter((each) => each.id.startsWith(id))).toHaveLength(2);
    await temporal.connection.close();
  }, 120_000);

  it('may ask, and be answered, as much as the policy allows at once', async () => {
    const id = await call('large_question', { arguments: { text: 'a'.repeat(255 * kibibyte) } });
    const consent = await asked(parley, id);
    await accept(parley, consent, { go: { text: 'b'.repeat(255 * kibibyte) } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
  });
});
