/** The two key rings of the configuration (design §7), checked to be two: the codec server must not be able to open sealed fields. */

import { type Config, ConfigFault } from '../config/config.js';
import type { Secret } from '../config/secret.js';
import { KeyRing, KeyRingFault } from './key-ring.js';

export interface Rings {
  /** Of every Temporal payload; the codec server holds it. */
  readonly codec: KeyRing;
  /** Of requestState, answers and results. */
  readonly seal: KeyRing;
}

/** @throws {ConfigFault} naming the variable, never a key */
export function readRings({ codecKeys, sealKeys }: Pick<Config, 'codecKeys' | 'sealKeys'>): Rings {
  const codec = ringOf('PARLEY_CODEC_KEYS', codecKeys);
  const seal = ringOf('PARLEY_SEAL_KEYS', sealKeys);
  const codecBytes = new Set(codec.kids.map((kid) => codec.get(kid).toString('base64')));
  if (seal.kids.some((kid) => codecBytes.has(seal.get(kid).toString('base64')))) {
    throw new ConfigFault(['PARLEY_SEAL_KEYS: shares a key with PARLEY_CODEC_KEYS; the two rings must differ']);
  }
  return { codec, seal };
}

function ringOf(variable: string, secret: Secret): KeyRing {
  try {
    return KeyRing.parse(secret.reveal());
  } catch (error) {
    if (error instanceof KeyRingFault) throw new ConfigFault([`${variable}: ${error.message}`]);
    throw error;
  }
}
