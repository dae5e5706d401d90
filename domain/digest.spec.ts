import { describe, expect, it } from 'vitest';
import { DigestFault, digestOf } from './digest.js';

describe('digestOf', () => {
  it('is the SHA-256 of the RFC 8785 form', () => {
    expect(digestOf({ b: 1, a: 'x' })).toBe('sha256:cdab067e9f3beb32d1252cfd63e492592fecbf591b0d08cadb24bb17f3864246');
  });

  it('does not depend on the order of members or on how a number was written', () => {
    expect(digestOf(JSON.parse('{"a":1.0,"b":[1e2,null]}'))).toBe(digestOf(JSON.parse('{ "b": [100, null], "a": 1 }')));
  });

  it('depends on the order of an array', () => {
    expect(digestOf([1, 2])).not.toBe(digestOf([2, 1]));
  });

  it('takes a member called __proto__ as data', () => {
    expect(digestOf(JSON.parse('{"__proto__":{"a":1}}'))).not.toBe(digestOf({}));
  });

  it('tells text from number, and null from absent', () => {
    expect(digestOf({ a: '1' })).not.toBe(digestOf({ a: 1 }));
    expect(digestOf({ a: null })).not.toBe(digestOf({}));
  });

  it.each([['\ud800'], [{ a: ['x\udfff'] }], [{ '\udc00': 1 }]])('refuses lone surrogates (lone_surrogate) %#', (value) => {
    expect(() => digestOf(value)).toThrow(expect.objectContaining({ code: 'lone_surrogate' }));
  });

  it('takes paired surrogates', () => {
    expect(digestOf('\u{1f600}')).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it.each([[undefined], [Number.NaN], [{ a: Number.POSITIVE_INFINITY }], [() => 1]])(
    'refuses what is not JSON (not_json) %#',
    (value) => {
      expect(() => digestOf(value)).toThrow(expect.objectContaining({ code: 'not_json' }));
    },
  );

  it('refuses a value too deep to walk (not_json) without quoting it', () => {
    const deep = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) as unknown;
    expect(() => digestOf(deep)).toThrow(DigestFault);
  });
});
