/**
 * Sealed fields (design §7, promise 4): requestState, params, views, answers and results under the second key ring, which the codec
 * server does not hold. A sealed text opens only for the tenant, invocation and field it was made for.
 */

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Sealed } from '../../domain/call.js';
import { decrypt, encrypt } from './aead.js';
import type { KeyRing } from './key-ring.js';

export interface SealScope {
  readonly tenant: string;
  readonly invocation: string;
  /** What is inside, e.g. `params`, `state.2`, `answer.cns_…`. */
  readonly field: string;
}

export type SealFaultCode = 'not_json' | 'malformed' | 'not_authentic';

/** A value cannot be sealed or unsealed. Messages name the field, never content. A retired key is a `KeyRingFault`. */
export class SealFault extends Error {
  constructor(
    readonly code: SealFaultCode,
    field: string,
  ) {
    super(`${sealFaults[code]} (field ${field})`);
    this.name = 'SealFault';
  }
}

const sealFaults: Record<SealFaultCode, string> = {
  not_json: 'only JSON values can be sealed',
  malformed: 'this is no sealed text',
  not_authentic: 'the sealed text was altered, or was made for another tenant, invocation or field',
};

/** Stored for years: a new form gets a new number, old ones stay readable. */
const sealVersion = 's1';
const fingerprintVersion = 'f1';
const base64UrlShape = /^[A-Za-z0-9_-]+$/;

export class Sealer {
  private readonly fingerprintKeys = new Map<string, Buffer>();

  constructor(private readonly ring: KeyRing) {}

  /**
   * @param value JSON; lone surrogates survive, since JSON.stringify escapes them
   * @returns `s1.<kid>.<base64url of iv|ciphertext|tag>`
   * @throws {SealFault} `not_json` for undefined or a function
   */
  seal(value: unknown, scope: SealScope): Sealed {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new SealFault('not_json', scope.field);
    const { kid, key } = this.ring.current;
    const box = encrypt(key, Buffer.from(text, 'utf8'), associatedData(kid, scope));
    return `${sealVersion}.${kid}.${box.toString('base64url')}` as Sealed;
  }

  /**
   * @throws {SealFault} `malformed` or `not_authentic`
   * @throws {KeyRingFault} `key_unknown` when its key left the ring
   */
  unseal<T>(sealed: Sealed, scope: SealScope): T {
    const [version, kid, box, ...rest] = sealed.split('.');
    const isSealed = version === sealVersion && kid !== undefined && box !== undefined && rest.length === 0;
    if (!isSealed || !base64UrlShape.test(box)) throw new SealFault('malformed', scope.field);
    const plain = decrypt(this.ring.get(kid), Buffer.from(box, 'base64url'), associatedData(kid, scope));
    if (plain === undefined) throw new SealFault('not_authentic', scope.field);
    return JSON.parse(plain.toString('utf8')) as T;
  }

  /**
   * A keyed digest: equal for equal text, meaningless without the ring. It names its key, so that a rotation is seen and is not
   * mistaken for another text; compare with {@link sameFingerprint}.
   */
  fingerprint(text: string): string {
    return this.fingerprintUnder(this.ring.current.kid, text);
  }

  /** Under every key of the ring, the current one first: what was noted before a rotation is found again. */
  fingerprints(text: string): string[] {
    return this.ring.kids.map((kid) => this.fingerprintUnder(kid, text));
  }

  /** @returns false also for a malformed fingerprint and for one under a retired key */
  sameFingerprint(text: string, fingerprint: string): boolean {
    const kid = fingerprint.split('.')[1];
    if (kid === undefined || !this.ring.kids.includes(kid)) return false;
    const expected = Buffer.from(this.fingerprintUnder(kid, text));
    const given = Buffer.from(fingerprint);
    return expected.length === given.length && timingSafeEqual(expected, given);
  }

  private fingerprintUnder(kid: string, text: string): string {
    // JSON keeps lone surrogates apart; plain UTF-8 would turn each of them into the same replacement character.
    const mac = createHmac('sha256', this.fingerprintKey(kid)).update(JSON.stringify(text), 'utf8').digest('base64url');
    return `${fingerprintVersion}.${kid}.${mac}`;
  }

  private fingerprintKey(kid: string): Buffer {
    const known = this.fingerprintKeys.get(kid);
    if (known !== undefined) return known;
    const derived = Buffer.from(hkdfSync('sha256', this.ring.get(kid), '', 'parley fingerprint', 32));
    this.fingerprintKeys.set(kid, derived);
    return derived;
  }
}

function associatedData(kid: string, scope: SealScope): Buffer {
  return Buffer.from(JSON.stringify([sealVersion, kid, scope.tenant, scope.invocation, scope.field]), 'utf8');
}
