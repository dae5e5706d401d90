/**
 * A ring of AES-256 keys with ids (design §7). New text is written under the first key; every key still opens what it closed, so that
 * a key is retired only when nothing written under it is left. Parley has two rings: one for payloads, one for sealed fields.
 */

export type KeyRingFaultCode = 'empty' | 'malformed' | 'key_size' | 'kid_repeated' | 'key_unknown';

/** A ring that cannot be used. Messages name a key id, never key bytes. */
export class KeyRingFault extends Error {
  constructor(
    readonly code: KeyRingFaultCode,
    message: string,
  ) {
    super(message);
    this.name = 'KeyRingFault';
  }
}

export interface RingKey {
  readonly kid: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

const keyBytes = 32;
/** No dot and no colon: both separate parts of sealed text and of the configuration. */
const kidShape = /^[A-Za-z0-9_-]{1,64}$/;
const base64Shape = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export class KeyRing {
  readonly current: RingKey;

  private constructor(
    first: RingKey,
    private readonly keys: ReadonlyMap<string, Buffer>,
  ) {
    this.current = first;
  }

  /**
   * @param text `kid:base64of32bytes` entries separated by commas or line breaks; the first is current
   * @throws {KeyRingFault} on anything else
   */
  static parse(text: string): KeyRing {
    const entries = text.split(/[,\s]+/).filter((entry) => entry !== '');
    const keys = new Map<string, Buffer>();
    for (const [index, entry] of entries.entries()) {
      const { kid, key } = parseEntry(entry, index + 1);
      if (keys.has(kid)) throw new KeyRingFault('kid_repeated', `key id ${kid} appears twice`);
      keys.set(kid, key);
    }
    const [first] = keys;
    if (first === undefined) throw new KeyRingFault('empty', 'a key ring needs at least one key');
    return new KeyRing({ kid: first[0], key: first[1] }, keys);
  }

  /** Every key id, current first. */
  get kids(): readonly string[] {
    return [...this.keys.keys()];
  }

  /** @throws {KeyRingFault} `key_unknown` for a key that was retired or never was here */
  get(kid: string): Buffer {
    const key = this.keys.get(kid);
    if (key !== undefined) return key;
    throw new KeyRingFault('key_unknown', `no key ${kidShape.test(kid) ? kid : '(malformed id)'} in the ring`);
  }
}

function parseEntry(entry: string, position: number): RingKey {
  const colon = entry.indexOf(':');
  const kid = entry.slice(0, Math.max(colon, 0));
  // The entry itself is never quoted: it may be a key whose id was forgotten.
  if (!kidShape.test(kid)) throw new KeyRingFault('malformed', `key ${position} is not of the form kid:base64`);
  const encoded = entry.slice(colon + 1);
  const key = Buffer.from(encoded, 'base64');
  if (!base64Shape.test(encoded)) throw new KeyRingFault('malformed', `key ${kid} is not base64`);
  if (key.length !== keyBytes) throw new KeyRingFault('key_size', `key ${kid} has ${key.length} bytes, not ${keyBytes}`);
  return { kid, key };
}
