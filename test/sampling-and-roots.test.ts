/** What a server may ask for beside elicitation, where its policy allows it (design §6): a model's message of a person, and the roots. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, asked, auditOf, outcome, start } from './harness/conversation.js';
import { startParley, type Parley } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type Call, type ScriptedServer } from './harness/scripted-server.js';

let parley: Parley;
let scripted: ScriptedServer;

const roots = [{ uri: 'file:///srv/project', name: 'Project' }, { uri: 'file:///srv/other' }];
const sampling = {
  method: 'sampling/createMessage',
  params: {
    messages: [{ role: 'user', content: { type: 'text', text: 'Sum up\u202e' } }],
    maxTokens: 50,
    systemPrompt: 'Brief.',
  },
};
const message = {
  role: 'assistant',
  content: { type: 'text', text: 'In short: yes.' },
  model: 'a person',
  stopReason: 'endTurn',
};
/** Tool name → what it asks for. */
const questions: Record<string, object> = {
  sample: { draft: sampling },
  roots: { where: { method: 'roots/list' } },
  mixed: { ...asking('form', { ok: { type: 'boolean' } }), draft: sampling, where: { method: 'roots/list', params: {} } },
  needy: {},
  greedy: { where: { method: 'roots/list' } },
};
const legsOf = (id: string): Call[] => scripted.calls.filter((call) => call.id.startsWith(`${id}.`));
const answersOf = (id: string) => legsOf(id).map(({ params }) => params['inputResponses']);

beforeAll(async () => {
  scripted = await scriptedServer(
    Object.keys(questions).map((name) => tool(name)),
    ({ params }, reply) => {
      const { name, inputResponses } = params as { name: string; inputResponses?: object };
      if (inputResponses !== undefined && name !== 'greedy') return reply.result(done);
      if (name === 'needy') {
        const requiredCapabilities = { elicitation: { url: {} }, sampling: {}, tasks: 5 };
        return reply.error(-32021, 'cannot go on', { requiredCapabilities });
      }
      const requestState = name === 'roots' ? {} : { requestState: 's' };
      return reply.result({ resultType: 'input_required', inputRequests: questions[name], ...requestState });
    },
  );
  parley = await startParley({
    servers: [
      { id: 'trusted', url: scripted.url, policy: { allow: { sampling: true, roots: true }, roots, maxPolls: 2 } },
      { id: 'usual', url: scripted.url },
    ],
  });
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
});

describe('sampling', () => {
  it('is a consent whose answer is the message, sent in its own shape [P5] [P6]', async () => {
    const id = await start(parley, { server: 'trusted', tool: 'sample' });
    const consent = await asked(parley, id);
    const messages = [{ role: 'user', text: 'Sum up\u202e' }];
    expect(consent.inputs).toEqual({ draft: { kind: 'sampling', messages, maxTokens: 50, systemPrompt: 'Brief.' } });
    expect(consent.display).toEqual([{ text: 'Sum up\u202e', display: 'Sum up⟨U+202E⟩' }]);

    const declined = await answer(parley, consent, { draft: { action: 'decline' } });
    expect(declined.status).toBe(422);
    const reply = await answer(parley, consent, { draft: message });
    expect(reply.status, reply.text).toBe(200);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(answersOf(id)).toEqual([undefined, { draft: message }]);
    expect(await auditOf(parley, id)).toContainEqual(expect.objectContaining({ type: 'answer_accepted', decision: 'accept' }));
  });
});

describe('roots', () => {
  it('are answered from the policy without a person, after the round is on record [P7]', async () => {
    const id = await start(parley, { server: 'trusted', tool: 'roots' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(answersOf(id)).toEqual([undefined, { where: { roots } }]);
    const events = (await auditOf(parley, id)).map(({ type }) => type);
    expect(events).toEqual(['invocation_started', 'leg_submitted', 'round_received', 'leg_submitted', 'invocation_closed']);
  });

  it('are polls: a server that asks for ever is stopped (poll_cap)', async () => {
    const id = await start(parley, { server: 'trusted', tool: 'greedy' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'rounds_exceeded', reason: 'poll_cap', leg: 3 });
  });
});

describe('both beside a form', () => {
  it('are answered together, each in its own shape; the person is asked for theirs alone', async () => {
    const id = await start(parley, { server: 'trusted', tool: 'mixed' });
    const consent = await asked(parley, id);
    expect(Object.keys(consent.inputs)).toEqual(['form', 'draft']);
    const form = { action: 'accept', content: { ok: true } };
    const meddling = await answer(parley, consent, { form, draft: message, where: { roots: [] } });
    expect(meddling.body.errors).toMatchObject([{ pointer: '/responses/where', code: 'response_unknown' }]);
    await answer(parley, consent, { form, draft: message });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(answersOf(id)).toEqual([undefined, { form, draft: message, where: { roots } }]);
    expect(legsOf(id)[1]?.params['requestState']).toBe('s');
  });
});

describe('what is declared', () => {
  const declaredBy = (id: string) =>
    legsOf(id).map(({ params }) => (params['_meta'] as any)['io.modelcontextprotocol/clientCapabilities']);

  it('is what the policy allows, the same on every leg', async () => {
    const id = await start(parley, { server: 'trusted', tool: 'roots' });
    await outcome(parley, id);
    const all = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
    expect(declaredBy(id)).toEqual([all, all]);
  });

  it('is named where a server needs more (missing_client_capability)', async () => {
    const id = await start(parley, { server: 'usual', tool: 'needy' });
    const closed = await outcome(parley, id);
    expect(closed).toMatchObject({ outcome: 'failed', reason: 'missing_client_capability', leg: 1 });
    expect(closed.problem.detail).toMatchObject({
      rpcCode: -32021,
      requiredCapabilities: ['elicitation.url', 'sampling', 'tasks'],
    });
  });

  it.each(['sample', 'roots'])('leaves %s out by default, and it is refused (undeclared_kind) [P5]', async (name) => {
    const id = await start(parley, { server: 'usual', tool: name });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'refused', reason: 'undeclared_kind', leg: 1 });
    expect(declaredBy(id)).toEqual([{ elicitation: { form: {}, url: {} } }]);
  });
});
