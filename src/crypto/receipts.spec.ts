import { CompactSign, decodeProtectedHeader, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { Receipts, type ReceiptClaims } from './receipts.js';

const digest = `sha256:${'0'.repeat(64)}`;
const claims: ReceiptClaims = {
  id: `rct_${'a'.repeat(32)}`,
  tenant: 't1',
  invocation: 'inv_1',
  consent: 'cns_1',
  round: 1,
  subject: 'user-1',
  server: 'deploys',
  method: 'tools/call',
  name: 'deploy',
  paramsDigest: digest,
  viewDigest: digest,
  responsesDigest: digest,
  decision: 'accept',
  decidedAt: '2026-11-30T12:00:00.000Z',
};

let first: JWK;
let second: JWK;
let receipts: Receipts;

async function privateJwk(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid };
}

beforeAll(async () => {
  [first, second] = await Promise.all([privateJwk('r1'), privateJwk('r2')]);
  receipts = await Receipts.fromJwk(JSON.stringify(first));
});

describe('Receipts', () => {
  it('verifies what it signed, claim by claim', async () => {
    expect(await receipts.verify(await receipts.sign(claims))).toEqual(claims);
  });

  it('says in the header what the text is, so that no token is taken for a receipt', async () => {
    expect(decodeProtectedHeader(await receipts.sign(claims))).toEqual({ alg: 'EdDSA', kid: 'r1', typ: 'parley-receipt' });
    const token = await signedBy(first, claims, { alg: 'EdDSA', kid: 'r1', typ: 'JWT' });
    await expect(receipts.verify(token)).rejects.toMatchObject({ code: 'signature_invalid' });
  });

  it('refuses an altered receipt (signature_invalid)', async () => {
    const [header, , signature] = (await receipts.sign(claims)).split('.');
    const other = Buffer.from(JSON.stringify({ ...claims, decision: 'decline' })).toString('base64url');
    await expect(receipts.verify(`${header}.${other}.${signature}`)).rejects.toMatchObject({ code: 'signature_invalid' });
  });

  it('refuses a receipt that another key signed under the same id (signature_invalid)', async () => {
    const forged = await signedBy(second, claims, { alg: 'EdDSA', kid: 'r1', typ: 'parley-receipt' });
    await expect(receipts.verify(forged)).rejects.toMatchObject({ code: 'signature_invalid' });
  });

  it('refuses a key it does not know (key_unknown)', async () => {
    const foreign = await (await Receipts.fromJwk(JSON.stringify(second))).sign(claims);
    await expect(receipts.verify(foreign)).rejects.toMatchObject({ code: 'key_unknown' });
  });

  it('refuses signed text that is no receipt (claims_invalid)', async () => {
    const header = { alg: 'EdDSA', kid: 'r1', typ: 'parley-receipt' };
    for (const payload of [{}, { ...claims, extra: 1 }, { ...claims, id: 'rct_x' }]) {
      await expect(receipts.verify(await signedBy(first, payload, header))).rejects.toMatchObject({ code: 'claims_invalid' });
    }
  });

  it.each(['', 'x', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.'])('refuses %j', async (jws) => {
    await expect(receipts.verify(jws)).rejects.toMatchObject({ name: 'ReceiptFault' });
  });

  it('still verifies receipts of an older key of the set', async () => {
    const old = await receipts.sign(claims);
    const rotated = await Receipts.fromJwk(JSON.stringify({ keys: [second, first] }));
    expect(await rotated.verify(old)).toEqual(claims);
    expect(decodeProtectedHeader(await rotated.sign(claims)).kid).toBe('r2');
  });

  it('publishes the public part only', () => {
    expect(receipts.publicKeys()).toEqual([{ kty: 'OKP', crv: 'Ed25519', x: first.x, kid: 'r1', alg: 'EdDSA', use: 'sig' }]);
  });

  it('refuses to make a receipt with a claim missing (claims_invalid)', async () => {
    const { decision: _, ...rest } = claims;
    await expect(receipts.sign(rest as ReceiptClaims)).rejects.toMatchObject({ code: 'claims_invalid' });
  });
});

describe('Receipts.fromJwk', () => {
  it.each([
    ['no JSON', () => '{'],
    ['no key id', () => JSON.stringify({ ...first, kid: undefined })],
    ['a public key', () => JSON.stringify({ ...first, d: undefined })],
    ['another kind of key', () => JSON.stringify({ kty: 'RSA', kid: 'x', n: 'x', e: 'AQAB' })],
    ['key material that is none', () => JSON.stringify({ ...first, d: 'AAAA' })],
    ['an empty set', () => '{"keys":[]}'],
  ])('refuses %s (key_invalid)', async (_, json) => {
    await expect(Receipts.fromJwk(json())).rejects.toMatchObject({ code: 'key_invalid' });
  });

  it('never quotes the key', async () => {
    const broken = JSON.stringify({ ...first, x: 'AAAA' });
    await expect(Receipts.fromJwk(broken)).rejects.toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(first.d!) }),
    );
  });
});

async function signedBy(jwk: JWK, payload: object, header: { alg: string; kid: string; typ: string }): Promise<string> {
  const key = await importJWK(jwk, 'EdDSA');
  return new CompactSign(new TextEncoder().encode(JSON.stringify(payload))).setProtectedHeader(header).sign(key);
}
