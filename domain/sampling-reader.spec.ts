import { describe, expect, it } from 'vitest';
import type { Capabilities } from './call.js';
import { gate } from './gate.js';
import { defaultPolicy } from './policy.js';

const declared: Capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const ask = (inputRequests: unknown, capabilities = declared, rest: object = {}) =>
  gate('tools/call', { resultType: 'input_required', inputRequests, ...rest }, capabilities, defaultPolicy);
const user = (content: unknown) => ({ role: 'user', content });
const text = (words: unknown) => ({ type: 'text', text: words });
const good = { messages: [user(text('Hello'))], maxTokens: 100 };
const sample = (params: unknown) => ask({ a: { method: 'sampling/createMessage', params } });

describe('sampling', () => {
  it('becomes a question to a person, with everything that a model would be told', () => {
    const verdict = sample({
      messages: [user(text('Hello')), { role: 'assistant', content: [text('one'), { ...text('two'), annotations: {} }] }],
      maxTokens: 100,
      systemPrompt: 'Be brief.\n',
      modelPreferences: { hints: [{ name: 'large' }, {}], costPriority: 1 },
      temperature: 0.5,
      stopSequences: ['END'],
      includeContext: 'none',
      metadata: { any: 1 },
    });
    expect(verdict).toEqual({
      is: 'round',
      round: {
        inputs: [
          {
            key: 'a',
            kind: 'sampling',
            messages: [
              { role: 'user', text: 'Hello' },
              { role: 'assistant', text: 'one' },
              { role: 'assistant', text: 'two' },
            ],
            maxTokens: 100,
            systemPrompt: 'Be brief.\n',
            modelHints: ['large'],
            temperature: 0.5,
            stopSequences: ['END'],
          },
        ],
      },
    });
  });

  it.each([
    ['request_malformed', '', undefined],
    ['request_malformed', '/messages', { ...good, messages: [] }],
    ['request_malformed', '/messages', { ...good, messages: 'Hello' }],
    ['request_malformed', '/messages/0', { ...good, messages: [5] }],
    ['request_malformed', '/messages/0/role', { ...good, messages: [{ role: 'system', content: text('x') }] }],
    ['request_malformed', '/messages/0/content', { ...good, messages: [user('x')] }],
    ['request_malformed', '/messages/0/content/type', { ...good, messages: [user({ text: 'x' })] }],
    ['request_malformed', '/messages/0/content/text', { ...good, messages: [user(text(5))] }],
    ['sampling_content_unsupported', '/messages/0/content/type', { ...good, messages: [user({ type: 'image', data: '' })] }],
    ['sampling_content_unsupported', '/messages/0/content/1/type', { ...good, messages: [user([text('x'), { type: 'audio' }])] }],
    ['text_not_unicode', '/messages/0/content/text', { ...good, messages: [user(text('\ud800'))] }],
    ['message_too_long', '/systemPrompt', { ...good, systemPrompt: 'x'.repeat(9 * 1024) }],
    ['request_malformed', '/systemPrompt', { ...good, systemPrompt: null }],
    ['request_malformed', '/maxTokens', { messages: good.messages }],
    ['request_malformed', '/maxTokens', { ...good, maxTokens: 0 }],
    ['request_malformed', '/maxTokens', { ...good, maxTokens: 1.5 }],
    ['request_malformed', '/temperature', { ...good, temperature: '1' }],
    ['request_malformed', '/stopSequences/0', { ...good, stopSequences: [1] }],
    ['request_malformed', '/modelPreferences', { ...good, modelPreferences: [] }],
    ['request_malformed', '/modelPreferences/hints/0', { ...good, modelPreferences: { hints: ['large'] } }],
    ['undeclared_kind', '/tools', { ...good, tools: [] }],
    ['undeclared_kind', '/toolChoice', { ...good, toolChoice: { mode: 'auto' } }],
    ['undeclared_kind', '/includeContext', { ...good, includeContext: 'allServers' }],
  ])('is refused with %s at %s', (code, at, params) => {
    expect(sample(params)).toEqual({ is: 'refused', code, key: 'a', path: `/inputRequests/a/params${at}` });
  });
});

describe('roots', () => {
  const roots = { method: 'roots/list' };

  it('ask nobody: their keys are kept apart, with a state, without one and beside a question', () => {
    const form = { method: 'elicitation/create', params: { message: 'm', requestedSchema: { type: 'object', properties: {} } } };
    expect(ask({ r: roots })).toEqual({ is: 'round', round: { inputs: [], roots: ['r'] } });
    expect(ask({ r: { ...roots, params: {} } }, declared, { requestState: '' })).toMatchObject({ round: { requestState: '' } });
    expect(ask({ r: roots, f: form, constructor: roots })).toMatchObject({
      round: { inputs: [{ key: 'f', kind: 'form' }], roots: ['r', 'constructor'] },
    });
  });

  it('are refused with params that are none', () => {
    expect(ask({ r: { ...roots, params: 5 } })).toMatchObject({ code: 'request_malformed', path: '/inputRequests/r/params' });
  });
});

it.each([
  ['sampling/createMessage', good],
  ['roots/list', {}],
])('%s is refused where it was not declared (undeclared_kind)', (method, params) => {
  expect(ask({ a: { method, params } }, { elicitation: { form: {}, url: {} } })).toMatchObject({ code: 'undeclared_kind' });
});
