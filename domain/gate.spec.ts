import { describe, expect, it } from 'vitest';
import type { Capabilities } from './call.js';
import { gate, gateCodes, gateRefusals, type GateVerdict } from './gate.js';
import { defaultPolicy, type GateRules } from './policy.js';

const caps = defaultPolicy.gate;
const formOnly: Capabilities = { elicitation: { form: {} } };

const confirm = { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] };
const elicit = (params: object = {}) => ({
  method: 'elicitation/create',
  params: { message: 'Deploy?', requestedSchema: confirm, ...params },
});
const asking = (inputRequests: unknown, rest: object = {}) => ({ resultType: 'input_required', inputRequests, ...rest });
const judge = (raw: object, declared = formOnly, rules: GateRules = defaultPolicy): GateVerdict =>
  gate('tools/call', raw as Record<string, unknown>, declared, rules);

/** As from the wire, so that `__proto__` is an own member. */
const wire = (text: string) => JSON.parse(text) as Record<string, unknown>;

function roundOf(verdict: GateVerdict) {
  if (verdict.is === 'refused') throw new Error(`refused: ${verdict.code} at ${verdict.path}`);
  return verdict.round;
}

describe('gate: depth', () => {
  const nested = (levels: number): object => (levels === 0 ? {} : { in: nested(levels - 1) });

  it('lets the deepest form pass that there is: a titled choice of several', () => {
    const items = { anyOf: [{ const: 'a', title: 'A' }] };
    const requestedSchema = { type: 'object', properties: { pick: { type: 'array', items } } };
    expect(judge(asking({ a: elicit({ requestedSchema }) })).is).toBe('round');
  });

  it('refuses what is nested more deeply than the policy allows, wherever it is and however deep', () => {
    expect(judge(asking({ a: elicit({ other: nested(6) }) })).is).toBe('round');
    const refusal = { is: 'refused', code: 'too_deep', key: 'a', path: '/inputRequests/a/params' };
    expect(judge(asking({ a: elicit({ other: nested(7) }) }))).toEqual(refusal);
    const bomb = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
    expect(judge(asking({ a: elicit({ other: bomb }) }))).toEqual(refusal);
    const shallow = { ...defaultPolicy, gate: { ...caps, maxDepth: 3 } };
    expect(judge(asking({ a: elicit() }), formOnly, shallow)).toEqual(refusal);
  });
});

describe('gate: rounds', () => {
  it.each(['tools/call', 'prompts/get', 'resources/read'])('lets %s ask', (method) => {
    expect(gate(method, asking({ a: elicit() }), formOnly, defaultPolicy).is).toBe('round');
  });

  it('turns a form into the form model, under the key of the server', () => {
    expect(roundOf(judge(asking({ target: elicit({ mode: 'form' }) }, { requestState: 's' })))).toEqual({
      inputs: [
        {
          key: 'target',
          kind: 'form',
          message: 'Deploy?',
          fields: [{ name: 'confirm', type: 'boolean', required: true }],
        },
      ],
      requestState: 's',
    });
  });

  it('keeps the order of the server', () => {
    const { inputs } = roundOf(judge(asking({ z: elicit(), a: elicit(), m: elicit() })));
    expect(inputs.map(({ key }) => key)).toEqual(['z', 'a', 'm']);
  });

  it('reads a state without requests, or with empty requests, as a state-only round', () => {
    expect(roundOf(judge({ resultType: 'input_required', requestState: 's' })).inputs).toEqual([]);
    expect(roundOf(judge(asking({}, { requestState: 's' }))).inputs).toEqual([]);
  });

  it('keeps an absent state absent and an empty one empty', () => {
    expect('requestState' in roundOf(judge(asking({ a: elicit() })))).toBe(false);
    expect(roundOf(judge(asking({ a: elicit() }, { requestState: '' }))).requestState).toBe('');
  });

  it.each(['\u0000', '\u2028', '🙂', 'e\u0301', '"\\', 'a\ud800b'])('keeps the state %j exact', (state) => {
    expect(roundOf(judge({ resultType: 'input_required', requestState: state })).requestState).toBe(state);
  });

  it.each(['__proto__', 'constructor', 'toString', '', 'a/b~c', '🙂'])('takes the key %j as data', (key) => {
    const raw = wire(`{"resultType":"input_required","inputRequests":{${JSON.stringify(key)}:${JSON.stringify(elicit())}}}`);
    expect(roundOf(judge(raw)).inputs.map((input) => input.key)).toEqual([key]);
  });

  it('ignores members of a result and of a request that it does not know', () => {
    expect(judge(asking({ a: { ...elicit({ task: {} }), extra: 1 } }, { _meta: {}, content: [] })).is).toBe('round');
  });
});

describe('gate: refusals', () => {
  const at = '/inputRequests/a';
  const elicited = (params: object) => asking({ a: elicit(params) });
  const long = (bytes: number) => 'x'.repeat(bytes + 1);
  const options = Array.from({ length: 100 }, (_, n) => `${n}`.padStart(caps.maxLabelBytes, 'x'));
  const properties = { one: { type: 'string', enum: options }, other: { type: 'string', enum: options } };
  const manyLong = { a: elicit({ requestedSchema: { type: 'object', properties } }) };

  it.each([
    ['result_type_unknown', '/resultType', { resultType: 'task', taskId: '1' }],
    ['result_type_unknown', '/resultType', { resultType: 5 }],
    ['nothing_asked', '', { resultType: 'input_required' }],
    ['nothing_asked', '', asking({})],
    ['state_malformed', '/requestState', asking({ a: elicit() }, { requestState: null })],
    ['state_malformed', '/requestState', asking({ a: elicit() }, { requestState: 7 })],
    ['state_malformed', '/requestState', asking({ a: elicit() }, { requestState: {} })],
    ['state_malformed', '/requestState', asking({ a: elicit() }, { requestState: [] })],
    ['state_too_large', '/requestState', asking({}, { requestState: long(caps.maxStateBytes) })],
    ['state_too_large', '/requestState', asking({}, { requestState: '\u0001'.repeat(caps.maxStateBytes / 5) })],
    ['round_too_large', '/inputRequests', asking(manyLong)],
    ['requests_malformed', '/inputRequests', asking([elicit()], { requestState: 's' })],
    ['requests_malformed', '/inputRequests', asking('a', { requestState: 's' })],
    ['requests_malformed', '/inputRequests', asking(null, { requestState: 's' })],
    ['key_too_long', '/inputRequests', asking({ [long(caps.maxKeyLength)]: elicit() })],
    ['text_not_unicode', '/inputRequests', asking({ 'a\ud800': elicit() })],
  ])('%s at %s', (code, path, raw) => {
    expect(judge(raw)).toEqual({ is: 'refused', code, path });
  });

  it.each([
    ['request_malformed', at, asking({ a: 5 })],
    ['request_malformed', at, asking({ a: null })],
    ['request_malformed', at, asking({ a: [elicit()] })],
    ['request_malformed', `${at}/method`, asking({ a: {} })],
    ['request_malformed', `${at}/params`, asking({ a: { method: 'elicitation/create' } })],
    ['unknown_kind', `${at}/method`, asking({ a: { method: 'tools/call', params: {} } })],
    ['undeclared_kind', `${at}/method`, asking({ a: { method: 'sampling/createMessage', params: {} } })],
    ['undeclared_kind', `${at}/method`, asking({ a: { method: 'roots/list' } })],
    ['unknown_mode', `${at}/params/mode`, elicited({ mode: 'voice' })],
    ['request_malformed', `${at}/params/mode`, elicited({ mode: null })],
    ['undeclared_mode', `${at}/params/mode`, elicited({ mode: 'url', url: 'javascript:alert(1)' })],
    ['request_malformed', `${at}/params/message`, elicited({ message: 5 })],
    ['request_malformed', `${at}/params/message`, elicited({ message: undefined })],
    ['message_too_long', `${at}/params/message`, elicited({ message: long(caps.maxMessageBytes) })],
    ['message_too_long', `${at}/params/message`, elicited({ message: 'é'.repeat(caps.maxMessageBytes / 2 + 1) })],
    ['text_not_unicode', `${at}/params/message`, elicited({ message: '\udc00' })],
    ['schema_malformed', `${at}/params/requestedSchema`, elicited({ requestedSchema: [] })],
  ])('%s at %s', (code, path, raw) => {
    expect(judge(raw)).toEqual({ is: 'refused', code, path, key: 'a' });
  });

  it('method_cannot_ask for input_required on any other method', () => {
    expect(gate('tools/list', asking({ a: elicit() }), formOnly, defaultPolicy)).toMatchObject({ code: 'method_cannot_ask' });
  });

  it('too_many_requests past the cap, not at it', () => {
    const requests = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, elicit()]));
    expect(judge(asking(requests(caps.maxRequests))).is).toBe('round');
    expect(judge(asking(requests(caps.maxRequests + 1)))).toMatchObject({ code: 'too_many_requests' });
  });

  it('undeclared_kind when elicitation was not declared, undeclared_mode when only another mode was', () => {
    expect(judge(asking({ a: elicit() }), {})).toMatchObject({ code: 'undeclared_kind' });
    expect(judge(asking({ a: elicit() }), { elicitation: { url: {} } })).toMatchObject({ code: 'undeclared_mode' });
    // An empty object means forms only (MCP, elicitation); whoever declares it has no form here, and no URL either.
    const url = elicit({ mode: 'url', url: 'https://example.com' });
    expect(judge(asking({ a: url }), { elicitation: {} })).toMatchObject({ code: 'undeclared_mode' });
  });

  it('refuses the whole round for one bad request, and names its key as the server spelled it', () => {
    expect(judge(asking({ good: elicit(), 'b/a~d': { method: 'roots/list' } }))).toMatchObject({
      code: 'undeclared_kind',
      key: 'b/a~d',
      path: '/inputRequests/b~1a~0d/method',
    });
  });
});

it('pins the codes of the gate, each with a sentence', () => {
  expect([...gateCodes].toSorted()).toEqual([
    'bounds_impossible',
    'default_invalid',
    'default_too_long',
    'field_kind_unsupported',
    'format_unsupported',
    'key_too_long',
    'label_too_long',
    'message_too_long',
    'method_cannot_ask',
    'nothing_asked',
    'option_repeated',
    'request_malformed',
    'requests_malformed',
    'result_type_unknown',
    'round_too_large',
    'sampling_content_unsupported',
    'schema_keyword_unsupported',
    'schema_malformed',
    'secret_field',
    'state_malformed',
    'state_too_large',
    'text_not_unicode',
    'too_deep',
    'too_many_fields',
    'too_many_options',
    'too_many_requests',
    'undeclared_kind',
    'undeclared_mode',
    'unknown_kind',
    'unknown_mode',
    'url_character_refused',
    'url_malformed',
    'url_scheme_refused',
    'url_too_long',
    'url_userinfo',
  ]);
  for (const code of gateCodes) expect(gateRefusals[code]).toMatch(/^[A-Z].*\.$/);
});
