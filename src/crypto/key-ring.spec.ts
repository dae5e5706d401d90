import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KeyRing } from './key-ring.js';

const key = () => randomBytes(32).toString('base64');

describe('KeyRing.parse', () => {
  it('makes the first key current and keeps the others', () => {
    const old = key();
    const ring = KeyRing.parse(`new:${key()},old:${old}`);
    expect(ring.current.kid).toBe('new');
    expect(ring.get('old').toString('base64')).toBe(old);
  });

  it('takes one key per line as well, with a line break at the end', () => {
    expect(KeyRing.parse(`a:${key()}\nb:${key()}\n`).kids).toEqual(['a', 'b']);
  });

  it.each([
    ['nothing', '', 'empty'],
    ['blanks', ' \n', 'empty'],
    ['a key without an id', key(), 'malformed'],
    ['an id with a dot', `a.b:${key()}`, 'malformed'],
    ['what is not base64', 'a:!!!!', 'malformed'],
    ['16 bytes', `a:${randomBytes(16).toString('base64')}`, 'key_size'],
    ['33 bytes', `a:${randomBytes(33).toString('base64')}`, 'key_size'],
    ['an id twice', `a:${key()},a:${key()}`, 'kid_repeated'],
  ])('refuses %s', (_, text, code) => {
    expect(() => KeyRing.parse(text)).toThrow(expect.objectContaining({ code }));
  });

  it('never quotes a key in a fault', () => {
    const secret = key();
    for (const text of [secret, `a:${secret}=`, `a:${secret},a:${secret}`, `:${secret}`]) {
      expect(() => KeyRing.parse(text)).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining(secret.slice(0, 8)) }),
      );
    }
  });
});

describe('KeyRing.get', () => {
  it('names a key id it does not have (key_unknown)', () => {
    const ring = KeyRing.parse(`a:${key()}`);
    expect(() => ring.get('gone')).toThrow(
      expect.objectContaining({ code: 'key_unknown', message: expect.stringContaining('gone') }),
    );
  });
});
