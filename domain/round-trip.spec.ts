/** Properties of gate and answers together, over generated questions: what a server may send, and what it may not. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkAnswer, inputResponsesOf } from './answers.js';
import type { Capabilities } from './call.js';
import type { FormField, FormInput } from './form.js';
import { gate, gateCodes, type GateVerdict } from './gate.js';
import { defaultPolicy } from './policy.js';

const everything: Capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const judge = (raw: unknown): GateVerdict => gate('tools/call', raw as Record<string, unknown>, everything, defaultPolicy);
/** Through text, as on the wire: inherited names become own members. */
const overWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const hostileNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'a/b', '~', '\u0000', '\u202e'];
const name = fc.oneof(fc.constantFrom(...hostileNames), fc.string({ unit: 'binary', maxLength: 8 }));
/** Members as a list, since an object literal cannot hold `__proto__`. */
const members = (value: fc.Arbitrary<unknown>, maxLength = 5) =>
  fc.array(fc.tuple(name, value), { maxLength }).map((entries) => Object.fromEntries(entries));

describe('hostile results', () => {
  const scalar = fc.oneof(fc.jsonValue({ maxDepth: 2 }), name);
  const keyword = fc.constantFrom(
    ...['type', 'title', 'description', 'enum', 'enumNames', 'oneOf', 'anyOf', 'items', 'const', 'default', 'format', 'pattern'],
    ...['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'uniqueItems', '$ref', 'properties', 'required'],
  );
  const value = fc.oneof(
    scalar,
    fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'email', 'date-time'),
    fc.array(fc.oneof(name, fc.record({ const: name, title: name }))),
    fc.integer({ min: -1, max: 3 }),
  );
  const schema = fc.dictionary(keyword, fc.oneof(value, fc.dictionary(keyword, value)));
  // Mostly right, so that the deepest readers are reached as often as the first check.
  const mostly = (right: fc.Arbitrary<unknown>) => fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: scalar });
  const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array');
  const field = fc.oneof(
    schema,
    fc.tuple(type, schema).map(([kind, rest]) => ({ ...rest, type: kind })),
  );
  const form = fc.record({ type: fc.constant('object'), properties: members(mostly(field), 2) });
  const url = fc.oneof(
    fc.webUrl(),
    fc.tuple(fc.constantFrom('https://', 'http://', 'HTTPS:', 'javascript:'), name).map(([start, rest]) => start + rest),
  );
  const block = fc.record({ type: mostly(fc.constant('text')), text: mostly(name) });
  const message = fc.record({ role: mostly(fc.constantFrom('user', 'assistant')), content: mostly(block) });
  const request = fc.record({
    method: mostly(fc.constantFrom('elicitation/create', 'elicitation/create', 'sampling/createMessage', 'roots/list')),
    params: mostly(
      fc.record({
        mode: mostly(fc.constantFrom('form', 'form', 'url')),
        message: mostly(name),
        url: mostly(url),
        messages: mostly(fc.array(message, { maxLength: 2 })),
        maxTokens: mostly(fc.constant(1)),
        requestedSchema: mostly(fc.oneof({ weight: 4, arbitrary: form }, { weight: 1, arbitrary: schema })),
      }),
    ),
  });
  const result = fc.oneof(
    { weight: 1, arbitrary: fc.dictionary(name, fc.jsonValue()) },
    {
      weight: 9,
      arbitrary: fc.record({
        resultType: mostly(fc.constant('input_required')),
        inputRequests: mostly(members(request, 2)),
        requestState: mostly(name),
      }),
    },
  );

  it('never make the gate throw: it answers with a round or one of its codes', () => {
    fc.assert(
      fc.property(result, (raw) => {
        const verdict = judge(overWire(raw));
        expect(['round', ...gateCodes]).toContain(verdict.is === 'refused' ? verdict.code : verdict.is);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never make the check of an answer throw', () => {
    const inputs = fc.array(good(), { maxLength: 3 }).map((requests) => inputsOf(requests));
    fc.assert(
      fc.property(inputs, fc.jsonValue(), fc.jsonValue(), (asked, content, strange) => {
        const forms = asked.map(({ key }) => [key, { action: 'accept', content }]);
        for (const responses of [strange, overWire(Object.fromEntries(forms))]) {
          expect(['valid', 'invalid']).toContain(checkAnswer(asked, responses, 10_000).is);
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** Any form that a correct server may send, as `inputRequests` entry. */
function good(): fc.Arbitrary<unknown> {
  const values = fc.uniqueArray(name, { minLength: 1, maxLength: 6 });
  const titled = values.map((all) => all.map((value) => ({ const: value, title: `T${value}` })));
  const range = fc.tuple(fc.nat(20), fc.nat(20)).map(([low, more]) => [low, low + more] as const);
  const choice = fc.oneof(
    values.map((all) => ({ enum: all })),
    values.map((all) => ({ enum: all, enumNames: all.map((value) => `T${value}`) })),
    titled.map((all) => ({ oneOf: all })),
  );
  const field = fc.oneof(
    range.map(([minLength, maxLength]) => ({ type: 'string', minLength, maxLength })),
    fc.constantFrom('email', 'uri', 'date', 'date-time').map((format) => ({ type: 'string', format })),
    range.map(([minimum, maximum]) => ({ type: 'number', minimum, maximum: maximum + 0.5 })),
    range.map(([minimum, maximum]) => ({ type: 'integer', minimum, maximum })),
    fc.boolean().map((preset) => ({ type: 'boolean', default: preset })),
    choice.map((spelling) => ({ type: 'string', ...spelling })),
    fc
      .oneof(
        choice,
        titled.map((all) => ({ anyOf: all })),
      )
      .map((items) => ({ type: 'array', items, minItems: 1 })),
  );
  const fields = members(field);
  return fc.record({ message: name, properties: fields }).chain(({ message, properties }) =>
    fc.subarray(Object.keys(properties)).map((required) => ({
      method: 'elicitation/create',
      params: { message, requestedSchema: { type: 'object', properties, required } },
    })),
  );
}

function inputsOf(requests: readonly unknown[]): readonly FormInput[] {
  const keyed = requests.map((request, index) => [hostileNames[index] ?? `${index}`, request]);
  const verdict = judge(overWire({ resultType: 'input_required', requestState: '', inputRequests: Object.fromEntries(keyed) }));
  if (verdict.is === 'refused') throw new Error(`a good round was refused: ${verdict.code} at ${verdict.path}`);
  return verdict.round.inputs.filter((input) => input.kind === 'form');
}

/** Any value that satisfies the field. */
function valueFor(field: FormField): fc.Arbitrary<unknown> {
  switch (field.type) {
    case 'string':
      return textFor(field);
    case 'number':
      return fc.double({ min: field.minimum ?? -1e9, max: field.maximum ?? 1e9, noNaN: true }).map((n) => n + 0);
    case 'integer':
      return fc.integer({ min: field.minimum ?? -1e9, max: field.maximum ?? 1e9 });
    case 'boolean':
      return fc.boolean();
    case 'select':
      return fc.constantFrom(...field.options.map(({ value }) => value));
    case 'multiselect':
      return fc.subarray(
        field.options.map(({ value }) => value),
        { minLength: field.minItems ?? 0 },
      );
  }
}

function textFor(field: FormField & { type: 'string' }): fc.Arbitrary<string> {
  switch (field.format) {
    case 'email':
      return fc.emailAddress();
    case 'uri':
      return fc.webUrl();
    case 'date':
      return instant().map((text) => text.slice(0, 10));
    case 'date-time':
      return instant();
    default:
      return fc.string({ unit: 'binary', minLength: field.minLength ?? 0, maxLength: field.maxLength ?? 50 });
  }
}

function instant(): fc.Arbitrary<string> {
  return fc
    .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    .map((date) => date.toISOString());
}

/** An accept of every form: all required fields, and some of the others. */
function acceptOf(inputs: readonly FormInput[]): fc.Arbitrary<unknown> {
  const responses = inputs.map(({ key, fields }) => {
    const entries = fields.map((field) => {
      const value = field.required ? valueFor(field) : fc.option(valueFor(field), { nil: undefined });
      return value.map((given) => [field.name, given] as const);
    });
    return fc.tuple(...entries).map((all) => {
      const content = Object.fromEntries(all.filter(([, value]) => value !== undefined));
      return [key, { action: 'accept', content }] as const;
    });
  });
  return fc.tuple(...responses).map((all) => overWire(Object.fromEntries(all)));
}

describe('rounds that pass the gate', () => {
  const round = fc.array(good(), { minLength: 1, maxLength: 4 }).map(inputsOf);
  const answered = round.chain((inputs) => acceptOf(inputs).map((responses) => ({ inputs, responses })));

  it('can be accepted, and the answer goes on the wire exactly as it was given', () => {
    fc.assert(
      fc.property(answered, ({ inputs, responses }) => {
        const check = checkAnswer(inputs, responses, defaultPolicy.maxAnswerBytes);
        if (check.is === 'invalid') throw new Error(JSON.stringify(check.errors));
        // As text: toEqual would overlook a member named __proto__.
        expect(JSON.stringify(inputResponsesOf(check.responses))).toBe(JSON.stringify(responses));
      }),
      { numRuns: 150 },
    );
  });

  it('refuse an accept in which any one required field is missing (field_missing)', () => {
    fc.assert(
      fc.property(answered, fc.nat(), ({ inputs, responses }, pick) => {
        const required = inputs.flatMap(({ key, fields }) =>
          fields.filter((f) => f.required).map((f) => ({ key, field: f.name })),
        );
        const left = required[pick % required.length];
        if (left === undefined) return;
        const less = structuredClone(responses) as Record<string, { content: Record<string, unknown> }>;
        delete less[left.key]?.content[left.field];
        expect(checkAnswer(inputs, less, defaultPolicy.maxAnswerBytes)).toMatchObject({
          is: 'invalid',
          errors: [{ code: 'field_missing' }],
        });
      }),
      { numRuns: 75 },
    );
  });
});
