import { describe, expect, it } from 'vitest';
import { checkAnswer, decisionOf, inputResponsesOf, type InputResponse } from './answers.js';
import type { FormField, FormInput, RoundInput, SamplingInput, UrlInput } from './form.js';

const plenty = 64 * 1024;
const input = (key: string, ...fields: FormField[]): FormInput => ({ key, kind: 'form', message: 'm', fields });
const ask = (...fields: FormField[]) => [input('a', ...fields)];
const accept = (content: unknown) => ({ a: { action: 'accept', content } });
const wire = (text: string): unknown => JSON.parse(text);

const named = { name: 'f', required: true } as const;
const options = [
  { value: 'x', title: 'Ex' },
  { value: 'y', title: 'Why' },
];

/** Where and why an answer is invalid, as `pointer code`; empty when it is valid. */
function faults(inputs: readonly RoundInput[], responses: unknown, maxBytes = plenty): string[] {
  const check = checkAnswer(inputs, responses, maxBytes);
  return check.is === 'valid' ? [] : check.errors.map(({ pointer, code }) => `${pointer} ${code}`);
}

describe('checkAnswer: values', () => {
  it.each<[FormField, unknown[], [unknown, string][]]>([
    [
      { ...named, type: 'string', minLength: 2, maxLength: 3 },
      ['ab', '🙂🙂🙂', '\u0000\u2028'],
      [
        ['a', 'text_too_short'],
        ['abcd', 'text_too_long'],
        [5, 'type_wrong'],
        [null, 'type_wrong'],
        ['a\ud800', 'text_not_unicode'],
      ],
    ],
    [
      { ...named, type: 'string', format: 'email' },
      ['a@b.co'],
      [
        ['a', 'format_wrong'],
        ['a@b', 'format_wrong'],
        ['', 'format_wrong'],
      ],
    ],
    [{ ...named, type: 'string', format: 'uri' }, ['https://example.com/?q#f', 'urn:x:y'], [['example.com', 'format_wrong']]],
    [
      { ...named, type: 'string', format: 'date' },
      ['2028-02-29'],
      [
        ['2027-02-29', 'format_wrong'],
        ['29.02.2028', 'format_wrong'],
      ],
    ],
    [
      { ...named, type: 'string', format: 'date-time' },
      ['2026-11-30T10:00:00Z', '2026-11-30t10:00:00.25+05:30', '1990-12-31T23:59:60Z'],
      [
        ['2026-11-30T10:00:00', 'format_wrong'],
        ['2026-11-30 10:00:00Z', 'format_wrong'],
        ['2026-11-30T10:00:00+05', 'format_wrong'],
        ['2026-11-30T25:00:00Z', 'format_wrong'],
      ],
    ],
    [
      { ...named, type: 'number', minimum: -1, maximum: 1.5 },
      [0, -1, 1.5],
      [
        [-1.01, 'number_too_small'],
        [2, 'number_too_large'],
        ['1', 'type_wrong'],
        [true, 'type_wrong'],
        [Infinity, 'type_wrong'],
      ],
    ],
    [
      { ...named, type: 'integer' },
      [wire('1.0'), 1e21],
      [
        [1.5, 'type_wrong'],
        ['1', 'type_wrong'],
      ],
    ],
    [
      { ...named, type: 'boolean' },
      [true, false],
      [
        ['true', 'type_wrong'],
        [0, 'type_wrong'],
        [null, 'type_wrong'],
      ],
    ],
    [
      { ...named, type: 'select', options },
      ['x'],
      [
        ['Ex', 'option_unknown'],
        ['', 'option_unknown'],
        [['x'], 'type_wrong'],
      ],
    ],
    [
      { ...named, type: 'multiselect', options, minItems: 1 },
      [['x'], ['y', 'x']],
      [
        [[], 'items_too_few'],
        [['x', 'y', 'x'], 'items_too_many'],
        [['x', 'x'], 'items_repeated'],
        ['x', 'type_wrong'],
        [{}, 'type_wrong'],
      ],
    ],
  ])('takes exactly what %o asks for', (field, good, bad) => {
    for (const value of good) expect(faults(ask(field), accept({ f: value }))).toEqual([]);
    for (const [value, code] of bad) expect(faults(ask(field), accept({ f: value }))).toEqual([`/responses/a/content/f ${code}`]);
  });

  it('points at the item of a multiple choice that is no option', () => {
    const field: FormField = { ...named, type: 'multiselect', options };
    expect(faults(ask(field), accept({ f: ['x', 'z'] }))).toEqual(['/responses/a/content/f/1 option_unknown']);
  });

  it('never adds a default', () => {
    const fields = ask({ name: 'f', required: false, type: 'string', default: 'd' });
    expect(checkAnswer(fields, accept({}), plenty)).toEqual({
      is: 'valid',
      responses: [{ key: 'a', response: { action: 'accept', content: {} } }],
    });
    expect(faults(ask({ ...named, type: 'string', default: 'd' }), accept({}))).toEqual(['/responses/a/content/f field_missing']);
  });

  it('names no entered value in a message', () => {
    const check = checkAnswer(ask({ ...named, type: 'select', options }), accept({ f: 'canary' }), plenty);
    expect(check).toEqual({
      is: 'invalid',
      errors: [{ pointer: '/responses/a/content/f', code: 'option_unknown', message: 'must be one of the offered options' }],
    });
  });
});

describe('checkAnswer: the whole round', () => {
  const optional: FormField = { name: 'f', required: false, type: 'boolean' };
  const both = [input('a', optional), input('b', optional)];

  it.each([null, [], 'a', 5, undefined])('refuses %j as responses (responses_malformed)', (responses) => {
    expect(faults(both, responses)).toEqual(['/responses responses_malformed']);
  });

  it('takes exactly the keys of the round', () => {
    expect(faults(both, { a: { action: 'decline' } })).toEqual(['/responses/b response_missing']);
    expect(faults(both, { a: { action: 'decline' }, b: { action: 'cancel' }, 'c/d': {} })).toEqual([
      '/responses/c~1d response_unknown',
    ]);
    expect(faults([input('toString', optional)], {})).toEqual(['/responses/toString response_missing']);
  });

  it('finds the faults of every input at once', () => {
    expect(faults(both, { a: { action: 'accept', content: { f: 1 } }, b: { action: 'reject' } })).toEqual([
      '/responses/a/content/f type_wrong',
      '/responses/b/action action_unknown',
    ]);
  });

  it.each([
    [5, '/responses/a response_malformed'],
    [null, '/responses/a response_malformed'],
    [{}, '/responses/a/action action_unknown'],
    [{ action: 'accept' }, '/responses/a/content content_missing'],
    [{ action: 'accept', content: null }, '/responses/a/content content_missing'],
    [{ action: 'accept', content: [] }, '/responses/a/content content_missing'],
    [{ action: 'decline', content: {} }, '/responses/a/content content_unexpected'],
    [{ action: 'cancel', content: null }, '/responses/a/content content_unexpected'],
    [{ action: 'accept', content: {}, _meta: {} }, '/responses/a/_meta member_unknown'],
    [{ action: 'accept', content: { g: 1 } }, '/responses/a/content/g field_unknown'],
    [{ action: 'accept', content: { constructor: 1 } }, '/responses/a/content/constructor field_unknown'],
    [{ action: 'accept', content: wire('{"__proto__":1}') }, '/responses/a/content/__proto__ field_unknown'],
  ])('refuses the response %j', (response, found) => {
    expect(faults(ask(optional), { a: response })).toEqual([found]);
  });

  it.each(['decline', 'cancel'])('checks no field of a %s', (action) => {
    expect(faults(ask({ ...named, type: 'string' }), { a: { action } })).toEqual([]);
  });

  it('accepts a form without fields with an empty object', () => {
    expect(faults(ask(), accept({}))).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'valueOf'])('treats %s as data, as a key and as a name', (name) => {
    const inputs = [input(name, { name, required: true, type: 'boolean' })];
    const at = `/responses/${name}`;
    expect(faults(inputs, {})).toEqual([`${at} response_missing`]);
    expect(faults(inputs, wire(`{"${name}":{"action":"accept","content":{}}}`))).toEqual([`${at}/content/${name} field_missing`]);
    expect(faults(inputs, wire(`{"${name}":{"action":"accept","content":{"${name}":1}}}`))).toEqual([
      `${at}/content/${name} type_wrong`,
    ]);
    expect(faults(inputs, wire(`{"${name}":{"action":"accept","content":{"${name}":true}}}`))).toEqual([]);
  });

  it('refuses more bytes than allowed (answer_too_large)', () => {
    const responses = accept({ f: 'é'.repeat(100) });
    const size = Buffer.byteLength(JSON.stringify(responses));
    expect(faults(ask({ ...named, type: 'string' }), responses, size)).toEqual([]);
    expect(faults(ask({ ...named, type: 'string' }), responses, size - 1)).toEqual(['/responses answer_too_large']);
  });

  it('survives a deeply nested and a very wide answer', () => {
    const deep = wire(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(faults(ask({ ...named, type: 'string' }), accept({ f: deep }))).toEqual(['/responses/a/content/f type_wrong']);
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n]));
    expect(faults(ask(), accept(wide))).toHaveLength(100);
  });
});

describe('checkAnswer: a URL', () => {
  const url: UrlInput = { key: 'a', kind: 'url', message: 'm', url: 'https://example.com', host: 'example.com', notes: [] };

  it.each(['accept', 'decline', 'cancel'] as const)('takes a bare %s', (action) => {
    const responses = [{ key: 'a', response: { action } }];
    expect(checkAnswer([url], { a: { action } }, plenty)).toEqual({ is: 'valid', responses });
  });

  it.each([
    [{ action: 'accept', content: {} }, '/responses/a/content content_unexpected'],
    [{ action: 'accept', content: null }, '/responses/a/content content_unexpected'],
    [{ action: 'accept', url: 'https://example.com' }, '/responses/a/url member_unknown'],
    [{ action: 'opened' }, '/responses/a/action action_unknown'],
  ])('refuses the response %j', (response, found) => {
    expect(faults([url], { a: response })).toEqual([found]);
  });
});

describe('checkAnswer: a message', () => {
  const sampling: SamplingInput = { key: 'a', kind: 'sampling', messages: [{ role: 'user', text: 'm' }], maxTokens: 1 };
  const message = { role: 'assistant', content: { type: 'text', text: 'no' }, model: 'me' } as const;

  it.each([message, { ...message, role: 'user', stopReason: 'endTurn' } as const])('takes %j as it is', (response) => {
    expect(checkAnswer([sampling], { a: response }, plenty)).toEqual({ is: 'valid', responses: [{ key: 'a', response }] });
    expect(decisionOf([{ key: 'a', response }])).toBe('accept');
  });

  it.each([
    [5, ['/responses/a response_malformed']],
    [{ ...message, action: 'accept' }, ['/responses/a/action member_unknown']],
    [{ ...message, role: 'system' }, ['/responses/a/role message_malformed']],
    [{ ...message, model: '' }, ['/responses/a/model message_malformed']],
    [{ ...message, model: undefined }, ['/responses/a/model message_malformed']],
    [{ ...message, stopReason: null }, ['/responses/a/stopReason message_malformed']],
    [{ ...message, content: 'no' }, ['/responses/a/content message_malformed']],
    [{ ...message, content: [message.content] }, ['/responses/a/content message_malformed']],
    [{ ...message, content: { type: 'image', text: 'x' } }, ['/responses/a/content/type message_malformed']],
    [{ ...message, content: { type: 'text', text: 'a\ud800' } }, ['/responses/a/content/text message_malformed']],
    [{ ...message, content: { ...message.content, _meta: {} } }, ['/responses/a/content/_meta member_unknown']],
  ])('refuses the response %j', (response, found) => {
    expect(faults([sampling], { a: response })).toEqual(found);
  });

  it('is no answer to a form, and an action is none to sampling', () => {
    expect(faults(ask(), { a: message })).toEqual(['/responses/a/action action_unknown']);
    expect(faults([sampling], { a: { action: 'decline' } })).toContain('/responses/a/action member_unknown');
  });
});

describe('decisionOf', () => {
  const given = (...all: InputResponse[]) => all.map((response, index) => ({ key: `${index}`, response }));
  it('is the one action of all responses, or mixed', () => {
    expect(decisionOf(given({ action: 'accept', content: {} }, { action: 'accept', content: {} }))).toBe('accept');
    expect(decisionOf(given({ action: 'decline' }))).toBe('decline');
    expect(decisionOf(given({ action: 'cancel' }, { action: 'cancel' }))).toBe('cancel');
    expect(decisionOf(given({ action: 'decline' }, { action: 'cancel' }))).toBe('mixed');
  });
});

describe('inputResponsesOf', () => {
  it('puts bare responses under the keys of the server, __proto__ included', () => {
    const responses = inputResponsesOf([
      { key: '__proto__', response: { action: 'decline' } },
      { key: 'a', response: { action: 'accept', content: { f: true } } },
    ]);
    expect(JSON.stringify(responses)).toBe('{"__proto__":{"action":"decline"},"a":{"action":"accept","content":{"f":true}}}');
  });
});
