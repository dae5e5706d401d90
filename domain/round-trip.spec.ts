/** Properties of gate and answers together, over generated questions: what a server may send, and what it may not. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkAnswer, inputResponsesOf } from './answers.js';
import { acceptOf, formRequest, formsOf, judge, members, name, overWire } from '../test/harness/rounds.js';
import { gateCodes } from './gate.js';
import { defaultPolicy } from './policy.js';

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
  const form = fc.record({ type: fc.constant('object'), properties: members(mostly(field), { maxLength: 2 }) });
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
        inputRequests: mostly(members(request, { maxLength: 2 })),
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
    const inputs = members(formRequest(), { maxLength: 3 }).map(formsOf);
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

describe('rounds that pass the gate', () => {
  const round = members(formRequest(), { minLength: 1, maxLength: 4 }).map(formsOf);
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
