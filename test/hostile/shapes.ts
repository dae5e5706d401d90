/**
 * Results in shapes that no honest server sends. Each is one that the MCP SDK lets through, repairs or drops without a word when a client
 * answers `input_required` by hand.
 */

import { acceptLater, answer } from '../harness/conversation.js';
import { expect } from 'vitest';
import { done } from '../harness/scripted-server.js';
import {
  ask,
  checkbox,
  completed,
  elicit,
  form,
  go,
  object,
  refused,
  yes,
  indeterminate,
  type HostileCase,
  type Person,
} from './case.js';

const state = { requestState: 's' };
const stateOnly = { resultType: 'input_required', ...state };
const url = (address: unknown) => go(elicit({ mode: 'url', url: address, requestedSchema: undefined }));
const deepObject = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;

const incomplete: HostileCase[] = [
  refused('neither-requests-nor-state', 'nothing_asked', { resultType: 'input_required' }),
  refused('empty-requests-without-state', 'nothing_asked', ask({})),
  refused('requests-that-are-null', 'requests_malformed', ask(null, state)),
];

const states: HostileCase[] = [
  ...Object.entries({ object: {}, array: [], number: 7, null: null, boolean: true }).flatMap(([kind, requestState]) => [
    refused(`state-${kind}-beside-requests`, 'state_malformed', go(checkbox, { requestState })),
    refused(`state-${kind}-alone`, 'state_malformed', { resultType: 'input_required', requestState }),
  ]),
  {
    name: 'state-that-is-empty',
    serves: go(checkbox, { requestState: '' }),
    person: accepting(['go']),
    echoes: { inputResponses: { go: yes }, requestState: '' },
    ends: completed,
    legs: 2,
  },
  {
    name: 'state-that-is-empty-and-alone',
    serves: { resultType: 'input_required', requestState: '' },
    echoes: { requestState: '' },
    ends: completed,
    legs: 2,
  },
  {
    name: 'state-of-half-a-character',
    serves: String.raw`{"resultType":"input_required","requestState":"a\ud800\u0000\u2028e\u0301 \"\\"}`,
    echoes: { requestState: 'a\ud800\u0000\u2028e\u0301 "\\' },
    ends: completed,
    legs: 2,
  },
  {
    name: 'state-that-is-absent',
    serves: go(checkbox),
    person: accepting(['go']),
    echoes: { inputResponses: { go: yes } },
    ends: completed,
    legs: 2,
  },
];

const requests: HostileCase[] = [
  refused('requests-as-array-with-state', 'requests_malformed', ask([checkbox], state)),
  refused('requests-as-array-without-state', 'requests_malformed', ask([checkbox])),
  refused('requests-as-text-with-state', 'requests_malformed', ask('go', state)),
  refused('request-with-unknown-method', 'unknown_kind', go({ method: 'tools/call', params: { name: 'x' } }), 'go'),
  refused('request-with-numeric-method', 'request_malformed', go({ method: 5 }), 'go'),
  refused('request-that-is-5', 'request_malformed', go(5), 'go'),
  refused('request-that-is-null', 'request_malformed', go(null), 'go'),
  refused('request-that-is-empty', 'request_malformed', go({}), 'go'),
  refused('request-without-params', 'request_malformed', go({ method: 'elicitation/create' }), 'go'),
  refused('mode-that-is-unknown', 'unknown_mode', go(elicit({ mode: 'voice' })), 'go'),
  refused('mode-that-is-null', 'request_malformed', go(elicit({ mode: null })), 'go'),
  refused(
    'schema-with-nested-object',
    'field_kind_unsupported',
    go(form(object({ a: object({ b: { type: 'string' } }) }))),
    'go',
  ),
  refused('schema-that-is-an-array', 'schema_malformed', go(form([])), 'go'),
  refused('schema-nested-100000-deep', 'too_deep', text(go(form(object({ a: 'DEEP' }))), '"DEEP"', deepObject), 'go'),
  refused(
    'schema-with-pattern',
    'schema_keyword_unsupported',
    go(form(object({ a: { type: 'string', pattern: '(a+)+$' } }))),
    'go',
  ),
  refused(
    'schema-that-wants-a-password',
    'secret_field',
    go(form(object({ login: { type: 'string', title: 'Your password' } }))),
    'go',
  ),
  refused(
    'schema-with-infinite-bound',
    'schema_malformed',
    text(go(form(object({ a: { type: 'number', maximum: 'BOUND' } }))), '"BOUND"', '1e999'),
    'go',
  ),
  refused('message-that-is-a-number', 'request_malformed', go(form(object({}), { message: 7 })), 'go'),
  refused(
    'message-of-half-a-character',
    'text_not_unicode',
    text(go(form(object({}), { message: 'HALF' })), 'HALF', '\\ud800'),
    'go',
  ),
  refused(
    'one-bad-request-of-two',
    'field_kind_unsupported',
    ask({ fine: checkbox, bad: form(object({ a: { type: 'null' } })) }),
    'bad',
  ),
];

const urls: HostileCase[] = [
  refused('url-javascript', 'url_scheme_refused', url('javascript:alert(1)'), 'go'),
  refused('url-data', 'url_scheme_refused', url('data:text/html,<p>hi'), 'go'),
  refused('url-http', 'url_scheme_refused', url('http://example.com/'), 'go'),
  refused('url-with-userinfo', 'url_userinfo', url('https://bank.example@evil.example/'), 'go'),
  refused('url-with-control-character', 'url_character_refused', url('https://example.com/\u0000'), 'go'),
  refused('url-with-newline', 'url_character_refused', url('java\nscript:alert(1)'), 'go'),
  refused('url-that-is-relative', 'url_malformed', url('/signin'), 'go'),
  refused('url-that-is-a-number', 'url_malformed', url(7), 'go'),
];

/** Keys that are property names, or hardly names at all: data, and the answer comes back under exactly the same. */
const keys: HostileCase[] = Object.entries({
  'key-that-is-empty': '',
  'key-of-control-characters': '\u0000\u001b[2J\n',
  'key-that-is-an-emoji': '🙂',
  'key-__proto__': '__proto__',
  'key-constructor': 'constructor',
  'key-toString': 'toString',
  'key-with-slash-and-tilde': 'a/b~1c~',
}).map(([name, key]) => ({
  name,
  serves: `{"resultType":"input_required","inputRequests":{${JSON.stringify(key)}:${JSON.stringify(checkbox)}}}`,
  person: accepting([key]),
  echoes: { inputResponses: keyed([key]) },
  ends: completed,
  legs: 2,
}));

const oddities: HostileCase[] = [
  {
    name: 'keys-that-repeat',
    // JSON.parse keeps the last one, and so does everybody who reads along.
    serves: `{"resultType":"input_required","inputRequests":{"go":5,"go":${JSON.stringify(checkbox)}}}`,
    person: accepting(['go']),
    echoes: { inputResponses: { go: yes } },
    ends: completed,
    legs: 2,
  },
  {
    name: 'field-__proto__',
    serves: `{"resultType":"input_required","inputRequests":{"go":{"method":"elicitation/create","params":{"message":"x","requestedSchema":{"type":"object","properties":{"__proto__":{"type":"boolean"},"constructor":{"type":"boolean"}},"required":["__proto__"]}}}}}`,
    person: async ({ parley, consent }) => {
      const content = JSON.parse('{"__proto__":true}') as object;
      await acceptLater(parley, consent, { go: content });
    },
    echoes: { inputResponses: { go: { action: 'accept', content: JSON.parse('{"__proto__":true}') } } },
    ends: completed,
    legs: 2,
  },
  {
    name: 'members-that-nobody-knows',
    serves: go({ ...checkbox, extra: 1 }, { content: [], structuredContent: {}, extra: { deep: [1] }, task: {} }),
    person: accepting(['go']),
    echoes: { inputResponses: { go: yes } },
    ends: completed,
    legs: 2,
  },
  {
    name: 'meta-with-malformed-members',
    serves: go(checkbox, { _meta: { progressToken: {}, '': null } }),
    person: accepting(['go']),
    echoes: { inputResponses: { go: yes } },
    ends: completed,
    legs: 2,
  },
  // No message of MCP's at all, whatever it says beside.
  ...Object.entries({ number: 5, array: [], null: null }).map(([kind, _meta]) => ({
    name: `meta-${kind}`,
    serves: go(checkbox, { _meta }),
    ends: indeterminate,
    legs: 1,
  })),
  { name: 'meta-number-in-a-complete-result', serves: { ...done, _meta: 5 }, ends: indeterminate, legs: 1 },
];

const otherMethods: HostileCase[] = [
  {
    name: 'prompt-that-asks',
    method: 'prompts/get',
    serves: go(checkbox, state),
    person: accepting(['go']),
    echoes: { inputResponses: { go: yes }, ...state },
    ends: completed,
    legs: 2,
  },
  {
    name: 'resource-that-asks',
    method: 'resources/read',
    serves: go(checkbox, state),
    person: accepting(['go']),
    echoes: { inputResponses: { go: yes }, ...state },
    ends: completed,
    legs: 2,
  },
  { ...refused('prompt-with-numeric-state', 'state_malformed', go(checkbox, { requestState: 7 })), method: 'prompts/get' },
  { ...refused('resource-with-numeric-state', 'state_malformed', go(checkbox, { requestState: 7 })), method: 'resources/read' },
  { name: 'resource-that-waits', method: 'resources/read', serves: stateOnly, echoes: state, ends: completed, legs: 2 },
];

export const shapes: readonly HostileCase[] = [
  ...incomplete,
  ...states,
  ...requests,
  ...urls,
  ...keys,
  ...oddities,
  ...otherMethods,
];

/** Through text, so that `__proto__` is an own member. */
function keyed(names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, yes]));
}

function accepting(names: readonly string[]): Person {
  return async ({ parley, consent }) => {
    expect(Object.keys(consent.inputs)).toEqual(names);
    const reply = await answer(parley, consent, keyed(names));
    expect([200, 202], reply.text).toContain(reply.status);
  };
}

/** What JSON can say and JSON.stringify cannot. */
function text(result: object, placeholder: string, written: string): string {
  return JSON.stringify(result).replace(placeholder, written);
}
