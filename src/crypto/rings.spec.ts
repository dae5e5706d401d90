import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ConfigFault } from '../config/config.js';
import { Secret } from '../config/secret.js';
import { readRings } from './rings.js';

const key = (kid: string) => `${kid}:${randomBytes(32).toString('base64')}`;
const rings = (codec: string, seal: string) => readRings({ codecKeys: new Secret(codec), sealKeys: new Secret(seal) });

describe('readRings', () => {
  it('reads two rings', () => expect(rings(key('a'), key('b')).seal.current.kid).toBe('b'));

  it('refuses a key that is in both, under whatever id: the codec server holds one ring', () => {
    const shared = key('a');
    expect(() => rings(shared, `${key('b')},${shared.replace('a:', 'c:')}`)).toThrow(
      'PARLEY_SEAL_KEYS: shares a key with PARLEY_CODEC_KEYS',
    );
  });

  it('names the variable and never the key', () => {
    expect(() => rings(key('a'), 'hunter2')).toThrow(ConfigFault);
    expect(() => rings(key('a'), 'hunter2')).toThrow(/^(?!.*hunter2).*PARLEY_SEAL_KEYS/s);
  });
});
