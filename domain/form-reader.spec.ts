import { describe, expect, it } from 'vitest';
import { readForm } from './form-reader.js';
import { GateRefusal } from './gate-refusal.js';
import { defaultPolicy } from './policy.js';

const caps = defaultPolicy.gate;
const form = (properties: object, rest: object = {}) => readForm({ type: 'object', properties, ...rest }, '', caps);
const field = (schema: object) => form({ f: schema })[0];

function refusal(read: () => unknown): { code: string; path: string } {
  try {
    read();
  } catch (error) {
    if (error instanceof GateRefusal) return { code: error.code, path: error.path };
    throw error;
  }
  throw new Error('was not refused');
}

const two = [
  { value: 'a', title: 'a' },
  { value: 'b', title: 'b' },
];
const titled = [
  { value: 'a', title: 'Alpha' },
  { value: 'b', title: 'Beta' },
];
const consts = [
  { const: 'a', title: 'Alpha' },
  { const: 'b', title: 'Beta' },
];

describe('readForm: fields', () => {
  it('reads texts with format, bounds, labels and default', () => {
    const schema = {
      type: 'string',
      title: 'T',
      description: 'D',
      format: 'email',
      minLength: 6,
      maxLength: 9,
      default: 'a@b.co',
    };
    expect(field(schema)).toEqual({ ...schema, name: 'f', required: false });
  });

  it.each(['email', 'uri', 'date', 'date-time'])('knows the format %s', (format) => {
    expect(field({ type: 'string', format })).toMatchObject({ type: 'string', format });
  });

  it.each(['number', 'integer'])('reads a %s with bounds and default', (type) => {
    expect(field({ type, minimum: 1, maximum: 5.0, default: 2 })).toEqual({
      name: 'f',
      required: false,
      type,
      minimum: 1,
      maximum: 5,
      default: 2,
    });
  });

  it('reads a boolean whose default is false', () => {
    expect(field({ type: 'boolean', default: false })).toEqual({ name: 'f', required: false, type: 'boolean', default: false });
  });

  it.each([
    ['enum', { enum: ['a', 'b'] }, two],
    ['enum with enumNames', { enum: ['a', 'b'], enumNames: ['Alpha', 'Beta'] }, titled],
    ['oneOf', { oneOf: consts }, titled],
    ['oneOf without titles', { oneOf: [{ const: 'a' }, { const: 'b' }] }, two],
  ])('reads a single choice spelled %s', (_, spelling, options) => {
    expect(field({ type: 'string', ...spelling, default: 'b' })).toEqual({
      name: 'f',
      required: false,
      type: 'select',
      options,
      default: 'b',
    });
  });

  it.each([
    ['items.enum', { type: 'string', enum: ['a', 'b'] }, two],
    ['items.enum with enumNames', { type: 'string', enum: ['a', 'b'], enumNames: ['Alpha', 'Beta'] }, titled],
    ['items.anyOf', { anyOf: consts }, titled],
    ['items.oneOf', { oneOf: consts }, titled],
  ])('reads a multiple choice spelled %s', (_, items, options) => {
    expect(field({ type: 'array', items, minItems: 1, maxItems: 2, uniqueItems: true, default: ['a'] })).toEqual({
      name: 'f',
      required: false,
      type: 'multiselect',
      options,
      minItems: 1,
      maxItems: 2,
      default: ['a'],
    });
  });

  it('keeps the order of the fields and marks the required ones', () => {
    const fields = form({ z: { type: 'boolean' }, a: { type: 'boolean' } }, { required: ['a'] });
    expect(fields.map(({ name, required }) => [name, required])).toEqual([
      ['z', false],
      ['a', true],
    ]);
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', '', 'a/b'])('takes the name %j as data', (name) => {
    const properties = JSON.parse(`{${JSON.stringify(name)}:{"type":"boolean"}}`) as object;
    expect(form(properties, { required: [name] })).toEqual([{ name, type: 'boolean', required: true }]);
  });

  it('reads a form without fields', () => {
    expect(form({})).toEqual([]);
  });

  it.each([true, false])('allows $schema, additionalProperties: %s and unknown annotations', (additionalProperties) => {
    const rest = { $schema: 'https://json-schema.org/draft/2020-12/schema', additionalProperties, title: 'T', 'x-order': [1] };
    expect(form({ f: { type: 'boolean', 'x-hint': {}, examples: [true], $comment: '' } }, rest)).toHaveLength(1);
  });
});

describe('readForm: refusals', () => {
  const at = '/properties/f';
  it.each([
    ['schema_malformed', at, true],
    ['schema_malformed', `${at}/title`, { type: 'boolean', title: 5 }],
    ['label_too_long', `${at}/title`, { type: 'boolean', title: 'x'.repeat(caps.maxLabelBytes + 1) }],
    ['label_too_long', `${at}/description`, { type: 'boolean', description: 'x'.repeat(caps.maxLabelBytes + 1) }],
    ['text_not_unicode', `${at}/title`, { type: 'boolean', title: '\ud800' }],
    ['field_kind_unsupported', at, {}],
    ['field_kind_unsupported', at, { type: 'null' }],
    ['field_kind_unsupported', at, { type: ['string', 'null'] }],
    ['field_kind_unsupported', at, { type: 'object', properties: {} }],
    ['field_kind_unsupported', at, { enum: ['a'] }],
    ['field_kind_unsupported', `${at}/items`, { type: 'array' }],
    ['field_kind_unsupported', `${at}/items`, { type: 'array', items: { type: 'string' } }],
    ['field_kind_unsupported', `${at}/items`, { type: 'array', items: { type: 'number', enum: ['a'] } }],
    ['schema_keyword_unsupported', `${at}/pattern`, { type: 'string', pattern: '(a+)+$' }],
    ['schema_keyword_unsupported', `${at}/$ref`, { type: 'string', $ref: 'https://example.com/s' }],
    ['schema_keyword_unsupported', `${at}/const`, { type: 'string', const: 'a' }],
    ['schema_keyword_unsupported', `${at}/anyOf`, { type: 'string', anyOf: consts }],
    ['schema_keyword_unsupported', `${at}/minLength`, { type: 'string', enum: ['a'], minLength: 1 }],
    ['schema_keyword_unsupported', `${at}/oneOf`, { type: 'string', enum: ['a'], oneOf: consts }],
    ['schema_keyword_unsupported', `${at}/multipleOf`, { type: 'integer', multipleOf: 2 }],
    ['schema_keyword_unsupported', `${at}/exclusiveMinimum`, { type: 'number', exclusiveMinimum: 0 }],
    ['schema_keyword_unsupported', `${at}/enum`, { type: 'number', enum: [1] }],
    ['schema_keyword_unsupported', `${at}/enum`, { type: 'boolean', enum: [true] }],
    ['schema_keyword_unsupported', `${at}/contains`, { type: 'array', items: { enum: ['a'] }, contains: {} }],
    ['schema_keyword_unsupported', `${at}/items/minLength`, { type: 'array', items: { enum: ['a'], minLength: 1 } }],
    ['schema_keyword_unsupported', `${at}/oneOf/0/not`, { type: 'string', oneOf: [{ const: 'a', not: {} }] }],
    ['format_unsupported', `${at}/format`, { type: 'string', format: 'regex' }],
    ['format_unsupported', `${at}/format`, { type: 'string', format: 5 }],
    ['schema_malformed', `${at}/minLength`, { type: 'string', minLength: -1 }],
    ['schema_malformed', `${at}/maxLength`, { type: 'string', maxLength: '5' }],
    ['schema_malformed', `${at}/minimum`, { type: 'number', minimum: null }],
    ['schema_malformed', `${at}/maximum`, { type: 'number', maximum: Infinity }],
    ['schema_malformed', `${at}/minItems`, { type: 'array', items: { enum: ['a'] }, minItems: 0.5 }],
    ['schema_malformed', `${at}/enum`, { type: 'string', enum: 'a' }],
    ['schema_malformed', `${at}/enum/1`, { type: 'string', enum: ['a', 1] }],
    ['schema_malformed', `${at}/enumNames`, { type: 'string', enum: ['a', 'b'], enumNames: ['A'] }],
    ['schema_malformed', `${at}/oneOf/0/const`, { type: 'string', oneOf: [{ title: 'A' }] }],
    ['bounds_impossible', at, { type: 'string', minLength: 3, maxLength: 2 }],
    ['bounds_impossible', at, { type: 'string', format: 'date', maxLength: 9 }],
    ['bounds_impossible', at, { type: 'integer', minimum: 0.2, maximum: 0.8 }],
    ['bounds_impossible', at, { type: 'array', items: { enum: ['a'] }, minItems: 2 }],
    ['bounds_impossible', `${at}/enum`, { type: 'string', enum: [] }],
    ['option_repeated', `${at}/enum/2`, { type: 'string', enum: ['a', 'b', 'a'] }],
    ['too_many_options', `${at}/enum`, { type: 'string', enum: Array.from({ length: caps.maxOptions + 1 }, (_, n) => `${n}`) }],
    ['default_invalid', `${at}/default`, { type: 'string', default: null }],
    ['default_invalid', `${at}/default`, { type: 'integer', default: 1.5 }],
    ['default_invalid', `${at}/default`, { type: 'boolean', default: 'true' }],
    ['default_invalid', `${at}/default`, { type: 'string', enum: ['a'], default: 'b' }],
    ['default_invalid', `${at}/default`, { type: 'array', items: { enum: ['a'] }, default: ['a', 'a'] }],
    ['default_invalid', `${at}/default/0`, { type: 'array', items: { enum: ['a'] }, default: ['b'] }],
    ['default_too_long', `${at}/default`, { type: 'string', default: 'x'.repeat(caps.maxMessageBytes + 1) }],
  ])('%s at %s', (code, path, schema) => {
    expect(refusal(() => form({ f: schema }))).toEqual({ code, path });
  });

  it.each([
    ['schema_malformed', '/type', { type: 'array' }],
    ['schema_malformed', '/properties', { properties: undefined }],
    ['schema_malformed', '/properties', { properties: [] }],
    ['schema_malformed', '/required', { required: 'f' }],
    ['schema_malformed', '/required/0', { required: ['toString'] }],
    ['schema_keyword_unsupported', '/additionalProperties', { additionalProperties: {} }],
    ['schema_keyword_unsupported', '/allOf', { allOf: [] }],
    ['schema_keyword_unsupported', '/patternProperties', { patternProperties: {} }],
  ])('%s at %s of the root', (code, path, root) => {
    expect(refusal(() => form({ f: { type: 'boolean' } }, root))).toEqual({ code, path });
  });

  it('too_many_fields past the cap, not at it', () => {
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, { type: 'boolean' }]));
    expect(form(fields(caps.maxFields))).toHaveLength(caps.maxFields);
    expect(refusal(() => form(fields(caps.maxFields + 1)))).toEqual({ code: 'too_many_fields', path: '/properties' });
  });

  it('does not repeat a name that is too long', () => {
    const name = 'x'.repeat(caps.maxLabelBytes + 1);
    expect(refusal(() => form({ [name]: { type: 'boolean' } }))).toEqual({ code: 'label_too_long', path: '/properties' });
  });
});
