/**
 * A server that the official conformance suite finds right (examples/conformance-server), called through Parley: every tool and the prompt
 * of its scenarios `input-required-result-*`, each question answered over REST.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConformanceServer, type ConformanceServer } from '../examples/conformance-server/server.js';
import type { Exchange } from '../examples/sdk-host.js';
import { accept, answer, asked, outcome, start, type CallWish } from './harness/conversation.js';
import { startParley, type Parley } from './harness/parley.js';

let parley: Parley;
let server: ConformanceServer;

const roots = [{ uri: 'file:///srv/project', name: 'Project' }];
const said = (text: string) => ({ role: 'assistant', content: { type: 'text', text }, model: 'a person', stopReason: 'endTurn' });
const accepting = (content: object) => ({ action: 'accept', content });
const tool = (name: string): CallWish => ({ server: 'suite', tool: `test_input_required_result_${name}` });
const legsOf = (id: string): Exchange[] => server.exchanges.filter((each) => each.id.startsWith(`${id}.`));
const textOf = (closed: any): string =>
  (closed.result.content ?? closed.result.messages.map((each: any) => each.content))[0].text;

beforeAll(async () => {
  server = await startConformanceServer();
  const allow = { sampling: true, roots: true };
  parley = await startParley({
    servers: [
      { id: 'suite', url: server.url, policy: { allow, roots } },
      { id: 'forms', url: server.url, policy: { allow: { url: false } } },
    ],
  });
});
afterAll(async () => {
  await parley?.stop();
  await server?.close();
});

interface Story {
  readonly wish: CallWish;
  /** One for each round that asks a person. */
  readonly answers: readonly Record<string, object>[];
  readonly says: string;
  /** Whether the server gives a state with each of its questions. */
  readonly hasState: boolean;
  /** Beside the person's answers, what Parley answers itself. */
  readonly added?: object;
}

const stories: Record<string, Story> = {
  'basic-elicitation': {
    wish: tool('elicitation'),
    answers: [{ user_name: accepting({ name: 'Alice' }) }],
    says: 'Hello, Alice!',
    hasState: false,
  },
  'basic-sampling': {
    wish: tool('sampling'),
    answers: [{ capital_question: said('The capital of France is Paris.') }],
    says: 'The capital of France is Paris.',
    hasState: false,
  },
  'request-state': {
    wish: tool('request_state'),
    answers: [{ confirm: accepting({ ok: true }) }],
    says: 'state-ok: true',
    hasState: true,
  },
  'tampered-state': {
    wish: tool('tampered_state'),
    answers: [{ confirm: accepting({ ok: false }) }],
    says: 'state-ok: false',
    hasState: true,
  },
  'multiple-input-requests': {
    wish: tool('multiple_inputs'),
    answers: [{ user_name: accepting({ name: 'Alice' }), greeting: said('Hello there!') }],
    says: 'Hello there! Alice of file:///srv/project',
    hasState: true,
    added: { client_roots: { roots } },
  },
  'multi-round': {
    wish: tool('multi_round'),
    answers: [{ step1: accepting({ name: 'Alice' }) }, { step2: accepting({ color: 'blue' }) }],
    says: 'Alice likes blue',
    hasState: true,
  },
  'non-tool-request': {
    wish: { server: 'suite', method: 'prompts/get', params: { name: 'test_input_required_result_prompt' } },
    answers: [{ user_context: accepting({ context: 'a test' }) }],
    says: 'In the context of a test',
    hasState: false,
  },
  'capability-check': {
    wish: tool('capabilities'),
    answers: [{ confirm: accepting({ ok: true }), greeting: said('Hello!') }],
    says: 'answered: confirm greeting',
    hasState: false,
  },
};

describe('a server of the conformance suite', () => {
  it.each(Object.entries(stories))(
    'completes %s: exact states, fresh ids, one request for each leg [P1] [P4]',
    async (_, story) => {
      const { wish, answers, says, hasState, added = {} } = story;
      const id = await start(parley, wish);
      for (const [index, responses] of answers.entries()) {
        const consent = await asked(parley, id, index + 1);
        const reply = await answer(parley, consent, responses);
        expect([200, 202], reply.text).toContain(reply.status);
      }
      const closed = await outcome(parley, id);
      expect(closed, JSON.stringify(closed.problem)).toMatchObject({ outcome: 'completed', leg: answers.length + 1 });
      expect(textOf(closed)).toBe(says);

      const legs = legsOf(id);
      expect(legs.map((leg) => leg.id)).toEqual([...answers, 'the first'].map((_, index) => `${id}.${index + 1}`));
      const replies = await Promise.all(legs.map(async (leg) => (await leg.reply).result));
      expect(replies.map((result) => result?.['resultType'])).toEqual([...answers.map(() => 'input_required'), 'complete']);
      const given = replies.slice(0, -1).map((result) => result?.['requestState']);
      expect(given.map((state) => typeof state)).toEqual(answers.map(() => (hasState ? 'string' : 'undefined')));
      expect(legs.map(({ params }) => params['requestState'])).toEqual([undefined, ...given]);
      expect(legs.map(({ params }) => Object.hasOwn(params, 'requestState'))).toEqual([false, ...given.map(() => hasState)]);
      expect(legs.map(({ params }) => params['inputResponses'])).toEqual([
        undefined,
        ...answers.map((responses) => ({ ...responses, ...added })),
      ]);
    },
  );

  it('gets the roots of the policy without anybody being asked (basic-list-roots)', async () => {
    const id = await start(parley, tool('list_roots'));
    const closed = await outcome(parley, id);
    expect(closed).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(textOf(closed)).toBe('roots: file:///srv/project');
    expect(legsOf(id)).toHaveLength(2);
  });

  it.each(['decline', 'cancel'])('is told of a %s [P6]', async (action) => {
    const id = await start(parley, tool('elicitation'));
    await answer(parley, await asked(parley, id), { user_name: { action } });
    expect(textOf(await outcome(parley, id))).toBe(`Hello, stranger! (${action})`);
  });

  it.each<[string, object, string]>([
    ['missing-input-response', { wrong_key: accepting({ data: 'wrong' }) }, 'response_unknown response_missing'],
    ['ignore-extra-params', { user_name: accepting({ name: 'Alice' }), extra: accepting({ foo: 'bar' }) }, 'response_unknown'],
    ['validate-input', { user_name: 12345 }, 'response_malformed'],
  ])(
    'never sees what %s sends it: Parley refuses such an answer, and the question stays open [P3]',
    async (_, responses, codes) => {
      const id = await start(parley, tool('elicitation'));
      const consent = await asked(parley, id);
      const refused = await answer(parley, consent, responses);
      expect(refused.status).toBe(422);
      expect(refused.body.errors.map((error: any) => error.code).join(' ')).toBe(codes);
      expect(legsOf(id)).toHaveLength(1);
      await accept(parley, consent, { user_name: { name: 'Bob' } });
      expect(textOf(await outcome(parley, id))).toBe('Hello, Bob!');
      expect(legsOf(id)).toHaveLength(2);
    },
  );

  it('asks only for what the policy has Parley declare (capability-check)', async () => {
    const id = await start(parley, { ...tool('capabilities'), server: 'forms' });
    const consent = await asked(parley, id);
    expect(Object.keys(consent.inputs)).toEqual(['confirm']);
    await accept(parley, consent, { confirm: { ok: true } });
    expect(textOf(await outcome(parley, id))).toBe('answered: confirm');
  });

  it('refuses a state that it does not know, and the call ends as that (state_expired)', async () => {
    const id = await start(parley, tool('tampered_state'));
    const consent = await asked(parley, id);
    server.forgetStates();
    await accept(parley, consent, { confirm: { ok: true } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'state_expired', reason: 'request_state_refused', leg: 2 });
    expect((await legsOf(id)[1]?.reply)?.error?.code).toBe(-32602);
    expect(legsOf(id)).toHaveLength(2);
  });

  it('lists its tools without asking for anything (unsupported-methods)', async () => {
    const reply = await parley.api('/v1/servers/suite/tools');
    expect(reply.body.items.map((item: any) => item.name)).toContain('test_input_required_result_elicitation');
  });
});
