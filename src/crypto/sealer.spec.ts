import { randomBytes } from 'node:crypto';
import { assert, jsonValue, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sealed } from '../../domain/call.js';
import { KeyRing } from './key-ring.js';
import { Sealer, type SealScope } from './sealer.js';

const keyText = (kid: string) => `${kid}:${randomBytes(32).toString('base64')}`;
const first = keyText('k1');
const second = keyText('k2');
const sealer = new Sealer(KeyRing.parse(first));
const rotated = new Sealer(KeyRing.parse(`${second},${first}`));
const scope: SealScope = { tenant: 't1', invocation: 'inv_1', field: 'state.1' };

describe('Sealer.unseal', () => {
  it('gives back any JSON value', () => {
    assert(
      property(jsonValue(), (value) => {
        const expected = JSON.parse(JSON.stringify(value)) as unknown;
        expect(sealer.unseal(sealer.seal(value, scope), scope)).toEqual(expected);
      }),
    );
  });

  it('gives back text byte by byte, lone surrogates and all', () => {
    const state = '\ud800 "\\ \u0000 \u{1f600} é e\u0301';
    expect(sealer.unseal(sealer.seal(state, scope), scope)).toBe(state);
  });

  it('keeps a member called __proto__ a member', () => {
    const value = JSON.parse('{"__proto__":{"x":1}}') as unknown;
    expect(JSON.stringify(sealer.unseal(sealer.seal(value, scope), scope))).toBe('{"__proto__":{"x":1}}');
  });

  it('opens what an older key of the ring sealed', () => {
    expect(rotated.unseal(sealer.seal('x', scope), scope)).toBe('x');
  });

  it('names the key that left the ring (key_unknown)', () => {
    expect(() => sealer.unseal(rotated.seal('x', scope), scope)).toThrow(expect.objectContaining({ code: 'key_unknown' }));
  });

  it.each([
    ['tenant', { tenant: 't2' }],
    ['invocation', { invocation: 'inv_2' }],
    ['field', { field: 'state.2' }],
    ['a shifted boundary between them', { tenant: 't1","inv_1', invocation: '' }],
  ])('refuses text that was sealed for another %s (not_authentic)', (_, other) => {
    const moved = { ...scope, ...other };
    expect(() => sealer.unseal(sealer.seal('x', scope), moved)).toThrow(expect.objectContaining({ code: 'not_authentic' }));
  });

  it('refuses text with any one character changed', () => {
    const sealed = sealer.seal({ secret: 'x' }, scope);
    for (let i = 0; i < sealed.length; i += 1) {
      // Flips the top bit of the character's six, so that no unused trailing bit of base64 is what changed.
      const other = flipped(sealed[i] ?? '');
      const altered = (sealed.slice(0, i) + other + sealed.slice(i + 1)) as Sealed;
      expect(() => sealer.unseal(altered, scope)).toThrow(/sealed text|no key/);
    }
  });

  it.each(['', 's1', 's1.k1', 's1.k1.', 's2.k1.AAAA', 's1.k1.AAAA.x', 's1.k1.A A', '{}'])('refuses %j (malformed)', (text) => {
    expect(() => sealer.unseal(text as Sealed, scope)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });

  it('refuses a text too short to hold a tag (not_authentic)', () => {
    expect(() => sealer.unseal('s1.k1.AAAA' as Sealed, scope)).toThrow(expect.objectContaining({ code: 'not_authentic' }));
  });
});

describe('Sealer.seal', () => {
  it('writes the pinned form under the current key', () => {
    expect(rotated.seal('x', scope)).toMatch(/^s1\.k2\.[A-Za-z0-9_-]+$/);
  });

  it('never seals the same value to the same text', () => {
    expect(sealer.seal('x', scope)).not.toBe(sealer.seal('x', scope));
  });

  it('refuses what JSON cannot say (not_json)', () => {
    expect(() => sealer.seal(undefined, scope)).toThrow(expect.objectContaining({ code: 'not_json' }));
  });
});

describe('Sealer.fingerprint', () => {
  it('is equal for equal text and names its key', () => {
    expect(sealer.fingerprint('state')).toBe(new Sealer(KeyRing.parse(first)).fingerprint('state'));
    expect(sealer.fingerprint('state')).toMatch(/^f1\.k1\.[A-Za-z0-9_-]{43}$/);
  });

  it('tells texts apart that differ in one lone surrogate', () => {
    expect(sealer.fingerprint('\ud800')).not.toBe(sealer.fingerprint('\ud801'));
  });

  it('is another one under another ring', () => {
    expect(new Sealer(KeyRing.parse(keyText('k1'))).fingerprint('state')).not.toBe(sealer.fingerprint('state'));
  });

  it('is recognised after a rotation', () => {
    const before = sealer.fingerprint('state');
    expect(rotated.fingerprint('state')).not.toBe(before);
    expect(rotated.sameFingerprint('state', before)).toBe(true);
    expect(rotated.sameFingerprint('other', before)).toBe(false);
  });

  it.each(['', 'f1', 'f1.gone.x', 'f1.k1.short'])('recognises nothing in %j', (fingerprint) => {
    expect(sealer.sameFingerprint('state', fingerprint)).toBe(false);
  });
});

const base64Url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function flipped(character: string): string {
  const position = base64Url.indexOf(character);
  return position === -1 ? '~' : (base64Url[position ^ 0b100000] ?? '~');
}
