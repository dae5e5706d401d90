/**
 * Arbitraries of what a correct server may ask and a person may answer, for properties of the domain and of a whole Parley alike. Names
 * and values are as unkind as the protocol allows.
 */

import * as fc from 'fast-check';
import type { Capabilities } from '../../domain/call.js';
import type { FormField, FormInput, RoundInput } from '../../domain/form.js';
import { gate, type GateVerdict } from '../../domain/gate.js';
import { defaultPolicy } from '../../domain/policy.js';

const everything: Capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

export const judge = (raw: unknown): GateVerdict => gate('tools/call', raw as Record<string, unknown>, everything, defaultPolicy);

/** Through text, as on the wire: inherited names become own members. */
export const overWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const hostileNames = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'a/b', '~', '7'],
  ...['\u0000', '\r\n', '\u001b[2J', '\u202e', '\u2028', '\ufeff', '👩‍🚀'],
];

export const name = fc.oneof(fc.constantFrom(...hostileNames), fc.string({ unit: 'binary', maxLength: 8 }));

/** Members as a list, since an object literal cannot hold `__proto__`. */
export const members = (value: fc.Arbitrary<unknown>, { minLength = 0, maxLength = 5 } = {}) =>
  fc.array(fc.tuple(name, value), { minLength, maxLength }).map((entries) => Object.fromEntries(entries));

/** Any form that a correct server may send, as `inputRequests` entry. */
export function formRequest(): fc.Arbitrary<unknown> {
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

/** Any URL that a correct server may send a person to, as `inputRequests` entry. */
export function urlRequest(): fc.Arbitrary<unknown> {
  const url = fc
    .webUrl({ validSchemes: ['https'], withQueryParameters: true, withFragments: true })
    .filter((text) => URL.canParse(text));
  return fc.record({ mode: fc.constant('url'), message: name, url }).map((params) => ({ method: 'elicitation/create', params }));
}

/** @throws {Error} when the gate refuses the round */
export function inputsOf(inputRequests: unknown): readonly RoundInput[] {
  const verdict = judge(overWire({ resultType: 'input_required', requestState: '', inputRequests }));
  if (verdict.is === 'refused') throw new Error(`a good round was refused: ${verdict.code} at ${verdict.path}`);
  return verdict.round.inputs;
}

/** Of a round that asks for forms alone. */
export function formsOf(inputRequests: unknown): readonly FormInput[] {
  return inputsOf(inputRequests).filter((input) => input.kind === 'form');
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

/** An accept of every input: of a form with all required fields, and some of the others. */
export function acceptOf(inputs: readonly RoundInput[]): fc.Arbitrary<unknown> {
  return responsesOf(inputs, acceptTo);
}

/** Any answer that validates: each input is accepted, declined or cancelled by itself. */
export function answerOf(inputs: readonly RoundInput[]): fc.Arbitrary<unknown> {
  const refusal = fc.constantFrom('decline', 'cancel').map((action) => ({ action }));
  return responsesOf(inputs, (input) => fc.oneof({ weight: 3, arbitrary: acceptTo(input) }, { weight: 1, arbitrary: refusal }));
}

function responsesOf(
  inputs: readonly RoundInput[],
  responseTo: (input: RoundInput) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const responses = inputs.map((input) => responseTo(input).map((response) => [input.key, response] as const));
  return fc.tuple(...responses).map((all) => overWire(Object.fromEntries(all)));
}

function acceptTo(input: RoundInput): fc.Arbitrary<unknown> {
  if (input.kind !== 'form') return fc.constant({ action: 'accept' });
  const entries = input.fields.map((field) => {
    const value = field.required ? valueFor(field) : fc.option(valueFor(field), { nil: undefined });
    return value.map((given) => [field.name, given] as const);
  });
  return fc.tuple(...entries).map((all) => {
    const content = Object.fromEntries(all.filter(([, value]) => value !== undefined));
    return { action: 'accept', content };
  });
}
