/** Questions that are too much, and kinds of questions that nobody said could be asked. */

import { expect } from 'vitest';
import { acceptLater, answer } from '../harness/conversation.js';
import { asking } from '../harness/scripted-server.js';
import { ask, checkbox, completed, elicit, form, go, indeterminate, object, refused, type HostileCase } from './case.js';
import { reply, type Leg } from './server.js';

const kibibyte = 1024;
const long = (bytes: number) => 'x'.repeat(bytes + 1);
const times = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => of(n));
const fields = (count: number) => object(Object.fromEntries(times(count, (n) => [`field${n}`, { type: 'boolean' }])));
const checkboxes = (count: number) => ask(Object.fromEntries(times(count, (n) => [`key${n}`, checkbox])));
const options = (count: number) => times(count, (n) => `${n}`.padStart(kibibyte, 'x'));
/** Fields of 50 options, each of a kibibyte twice: as value and as title. */
const choices = (kibibytes: number) =>
  Object.fromEntries(times(kibibytes / 100, (n) => [`choice${n}`, { type: 'string', enum: options(50) }]));

const sizes: HostileCase[] = [
  refused('65-fields', 'too_many_fields', go(form(fields(65))), 'go'),
  refused('100000-fields', 'too_many_fields', go(form(fields(100_000))), 'go'),
  refused('501-options', 'too_many_options', go(form(object({ a: { type: 'string', enum: times(501, String) } }))), 'go'),
  refused(
    '501-titled-options',
    'too_many_options',
    go(form(object({ a: { type: 'array', items: { anyOf: times(501, (n) => ({ const: `${n}`, title: `${n}` })) } } }))),
    'go',
  ),
  refused('message-over-8-kibibytes', 'message_too_long', go(form(object({}), { message: long(8 * kibibyte) })), 'go'),
  refused('label-over-1-kibibyte', 'label_too_long', go(form(object({ a: { type: 'string', title: long(kibibyte) } }))), 'go'),
  refused('field-name-over-1-kibibyte', 'label_too_long', go(form(object({ [long(kibibyte)]: { type: 'string' } }))), 'go'),
  refused(
    'default-over-8-kibibytes',
    'default_too_long',
    go(form(object({ a: { type: 'string', default: long(8 * kibibyte) } }))),
    'go',
  ),
  refused(
    'url-over-8-kibibytes',
    'url_too_long',
    go(elicit({ mode: 'url', url: `https://example.com/${long(8 * kibibyte)}` })),
    'go',
  ),
  refused('state-over-256-kibibytes', 'state_too_large', go(checkbox, { requestState: long(256 * kibibyte) })),
  refused('state-over-256-kibibytes-with-escapes', 'state_too_large', {
    resultType: 'input_required',
    requestState: '\u0001'.repeat(50 * kibibyte),
  }),
  refused('17-requests', 'too_many_requests', checkboxes(17)),
  refused('key-of-257-characters', 'key_too_long', ask({ [long(256)]: checkbox })),
  refused('question-of-2-megabytes', 'round_too_large', ask(asking('go', choices(2_000), []))),
  // Text that would take twenty times its size once it is parsed.
  { name: 'result-of-a-million-arrays', serves: arrays(1_390_000), ends: indeterminate, legs: 1 },
  { name: 'stream-of-a-million-arrays', serves: (leg) => stream(leg, arrays(1_390_000)), ends: indeterminate, legs: 1 },
  { name: 'result-of-as-many-values-as-allowed', serves: arrays(120_000), ends: completed, legs: 1 },
  {
    name: 'question-as-large-as-allowed',
    serves: ask(asking('go', { ...choices(200), text: { type: 'string' } }, []), { requestState: 's'.repeat(250 * kibibyte) }),
    person: async ({ parley, consent }) => {
      const content = { text: 'b'.repeat(255 * kibibyte) };
      await acceptLater(parley, consent, { go: content });
    },
    ends: completed,
    legs: 2,
  },
  {
    name: 'question-without-end',
    serves: ({ response, id, n }: Leg) => reply(response, id, { resultType: 'input_required', requestState: `${n}` }),
    ends: { outcome: 'rounds_exceeded', reason: 'poll_cap' },
    server: 'impatient',
    legs: 4,
  },
];

const kinds: HostileCase[] = [
  refused('sampling-that-nobody-allowed', 'undeclared_kind', go({ method: 'sampling/createMessage', params: {} }), 'go'),
  refused('roots-that-nobody-allowed', 'undeclared_kind', go({ method: 'roots/list' }), 'go'),
  {
    ...refused('url-that-nobody-allowed', 'undeclared_mode', go(elicit({ mode: 'url', url: 'https://example.com/' })), 'go'),
    server: 'forms',
  },
  {
    ...refused(
      'sampling-with-tools',
      'undeclared_kind',
      go({ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1, tools: [] } }),
      'go',
    ),
    server: 'trusted',
  },
  {
    ...refused(
      'sampling-of-an-image',
      'sampling_content_unsupported',
      go({
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content: { type: 'image', data: '', mimeType: 'image/png' } }], maxTokens: 1 },
      }),
      'go',
    ),
    server: 'trusted',
  },
  {
    name: 'outside-ref',
    serves: outsideRef((url) => ({ $ref: `${url}/schema#/x`, type: 'string' })),
    ends: { outcome: 'refused', reason: 'schema_keyword_unsupported', key: 'go' },
    legs: 1,
  },
  {
    name: 'outside-schema-and-id',
    // Annotations to JSON Schema, and to Parley: nobody follows them.
    serves: outsideRef((url) => ({ $schema: `${url}/dialect`, $id: `${url}/id`, type: 'boolean' })),
    person: async ({ parley, consent }) => {
      await acceptLater(parley, consent, { go: { a: true } });
    },
    ends: completed,
    legs: 2,
  },
  {
    name: 'url-of-the-own-machine',
    serves: ({ response, id, elsewhere }: Leg) => reply(response, id, go(elicit({ mode: 'url', url: `${elsewhere}/bait` }))),
    ends: { outcome: 'refused', reason: 'url_scheme_refused', key: 'go' },
    legs: 1,
  },
  {
    name: 'url-that-is-accepted-and-never-fetched',
    server: 'trusted',
    serves: ({ response, id, n, elsewhere }: Leg) =>
      reply(
        response,
        id,
        n > 1 ? { resultType: 'complete', content: [] } : go(elicit({ mode: 'url', url: `${elsewhere}/bait` })),
      ),
    person: async ({ parley, consent }) => {
      expect([200, 202]).toContain((await answer(parley, consent, { go: { action: 'accept' } })).status);
    },
    echoes: { inputResponses: { go: { action: 'accept' } } },
    ends: completed,
    legs: 2,
  },
];

export const bombs: readonly HostileCase[] = [...sizes, ...kinds];

/** Two values each; a million of them are just below the 4 MiB that the policy allows. */
function arrays(count: number): string {
  return `{"resultType":"complete","content":[],"a":[${'[],'.repeat(count)}[]]}`;
}

function stream({ response, id }: Leg, result: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`: "\ndata: {"jsonrpc":"2.0","id":"${id}","result":${result}}\n\n`);
}

function outsideRef(field: (url: string) => object) {
  return ({ response, id, n, elsewhere }: Leg): void =>
    reply(response, id, n > 1 ? { resultType: 'complete', content: [] } : go(form(object({ a: field(elsewhere) }))));
}
