/**
 * Receipts (design §1): a signed statement of who was shown what and decided what, as JWS compact with EdDSA. It holds ids and digests,
 * no content, and is no JWT: it neither grants anything nor expires.
 */

import { CompactSign, compactVerify, importJWK, type CryptoKey, type JWK } from 'jose';
import { z } from 'zod';

const receiptType = 'parley-receipt';

const claimsSchema = z.strictObject({
  id: z.string().regex(/^rct_[0-9a-f]{32}$/),
  tenant: z.string(),
  invocation: z.string(),
  consent: z.string(),
  round: z.number().int(),
  subject: z.string(),
  server: z.string(),
  method: z.string(),
  name: z.string(),
  paramsDigest: z.string(),
  viewDigest: z.string(),
  responsesDigest: z.string(),
  decision: z.string(),
  decidedAt: z.iso.datetime(),
});

/** `subject` is the actor who decided; `decidedAt` is ISO 8601 on the API's clock; digests are of what was sent, shown and answered. */
export type ReceiptClaims = z.infer<typeof claimsSchema>;

export type ReceiptFaultCode = 'key_invalid' | 'key_unknown' | 'signature_invalid' | 'claims_invalid';

/** A receipt cannot be signed or does not stand. Messages never quote key material. */
export class ReceiptFault extends Error {
  constructor(
    readonly code: ReceiptFaultCode,
    message: string,
  ) {
    super(message);
    this.name = 'ReceiptFault';
  }
}

/** What verifies receipts; safe to publish. */
export interface PublicReceiptKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
}

interface VerifyingKey {
  readonly key: CryptoKey | Uint8Array;
  readonly jwk: PublicReceiptKey;
}

export class Receipts {
  private constructor(
    private readonly kid: string,
    private readonly signingKey: CryptoKey | Uint8Array,
    private readonly verifyingKeys: ReadonlyMap<string, VerifyingKey>,
  ) {}

  /**
   * @param json a private Ed25519 JWK with `kid`, or a JWK set: its first key signs, the others only verify older receipts
   * @throws {ReceiptFault} `key_invalid`
   */
  static async fromJwk(json: string): Promise<Receipts> {
    const jwks = parseKeys(json);
    const verifyingKeys = new Map<string, VerifyingKey>();
    for (const jwk of jwks) verifyingKeys.set(jwk.kid, await verifyingKeyOf(jwk));
    const [first] = jwks;
    if (first?.d === undefined) throw new ReceiptFault('key_invalid', 'the receipt key is not a private key');
    const signingKey = await importKey(first, first.kid);
    return new Receipts(first.kid, signingKey, verifyingKeys);
  }

  /** @throws {ReceiptFault} `claims_invalid` */
  async sign(claims: ReceiptClaims): Promise<string> {
    if (!claimsSchema.safeParse(claims).success)
      throw new ReceiptFault('claims_invalid', 'these are not the claims of a receipt');
    const payload = new TextEncoder().encode(JSON.stringify(claims));
    const header = { alg: 'EdDSA', kid: this.kid, typ: receiptType };
    return new CompactSign(payload).setProtectedHeader(header).sign(this.signingKey);
  }

  /** @throws {ReceiptFault} `key_unknown`, `signature_invalid`, `claims_invalid` */
  async verify(jws: string): Promise<ReceiptClaims> {
    const payload = await this.verifiedPayload(jws);
    const claims = claimsSchema.safeParse(jsonOf(payload));
    if (!claims.success) throw new ReceiptFault('claims_invalid', 'the text is signed but is no receipt');
    return claims.data;
  }

  /** Of the key that signs and of those that have signed before, in the order of the configuration. */
  publicKeys(): PublicReceiptKey[] {
    return [...this.verifyingKeys.values()].map(({ jwk }) => jwk);
  }

  private async verifiedPayload(jws: string): Promise<Uint8Array> {
    const keyFor = (header: { kid?: string }) => {
      const found = this.verifyingKeys.get(header.kid ?? '');
      if (found === undefined) throw new ReceiptFault('key_unknown', 'the receipt names a key that is not known here');
      return found.key;
    };
    try {
      const { payload, protectedHeader } = await compactVerify(jws, keyFor, { algorithms: ['EdDSA'] });
      if (protectedHeader.typ === receiptType) return payload;
    } catch (error) {
      if (error instanceof ReceiptFault) throw error;
    }
    throw new ReceiptFault('signature_invalid', 'the signature does not fit, or the text is no receipt');
  }
}

const keySchema = z.looseObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string().min(1),
  x: z.string(),
  d: z.string().optional(),
});
type ReceiptKey = z.infer<typeof keySchema>;

const keySetSchema = z.looseObject({ keys: z.array(keySchema).min(1) });

function parseKeys(json: string): ReceiptKey[] {
  const value = jsonOf(new TextEncoder().encode(json));
  const set = keySetSchema.safeParse(value);
  if (set.success) return set.data.keys;
  const key = keySchema.safeParse(value);
  if (key.success) return [key.data];
  throw new ReceiptFault('key_invalid', 'a receipt key is an Ed25519 JWK (kty OKP) with a kid');
}

async function verifyingKeyOf(jwk: ReceiptKey): Promise<VerifyingKey> {
  const publicPart: PublicReceiptKey = { kty: jwk.kty, crv: jwk.crv, x: jwk.x, kid: jwk.kid, alg: 'EdDSA', use: 'sig' };
  return { key: await importKey(publicPart, jwk.kid), jwk: publicPart };
}

async function importKey(jwk: ReceiptKey | PublicReceiptKey, kid: string): Promise<CryptoKey | Uint8Array> {
  const usable = { kty: 'OKP', crv: 'Ed25519', x: jwk.x, ...('d' in jwk && { d: jwk.d }) } as JWK;
  return importJWK(usable, 'EdDSA').catch(() => {
    throw new ReceiptFault('key_invalid', `receipt key ${kid} cannot be used`);
  });
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
