import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiInProcess, startApiInProcess } from '../../test/harness/api-in-process.js';
import { root } from '../../tools/root.js';
import { Receipts, type ReceiptClaims } from '../crypto/receipts.js';

const run = promisify(execFile);
const [, shown = ''] = /<!-- checked -->\n```js\n([^]*?)\n```/.exec(readFileSync(join(root, 'docs/rest.md'), 'utf8')) ?? [];
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

async function newKey(kid: string): Promise<object> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid };
}

let api: ApiInProcess;
let old: object;
beforeAll(async () => {
  old = await newKey('r1');
  const ring = JSON.stringify({ keys: [await newKey('r2'), old] });
  api = await startApiInProcess({ env: { PARLEY_RECEIPT_KEY: ring, PARLEY_RECEIPT_KEY_FILE: '' } });
});
afterAll(() => api.close());

describe('GET /v1/receipts/keys', () => {
  it('gives everybody the public part of every key, and nothing of the private one', async () => {
    const reply = await fetch(`${api.url}/v1/receipts/keys`);
    expect(reply.status).toBe(200);
    const { keys } = (await reply.json()) as { keys: Record<string, string>[] };
    const open = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', x: expect.any(String) };
    expect(keys).toEqual([
      { ...open, kid: 'r2' },
      { ...open, kid: 'r1' },
    ]);
  });
});

describe('the lines of docs/rest.md that verify a receipt', () => {
  const verify = (receipt: string) =>
    run(process.execPath, ['--input-type=module', '--eval', shown], {
      cwd: root,
      env: { ...process.env, API: api.url, RECEIPT: receipt },
    });

  it('read what was signed, by the key of today and by the one before', async () => {
    const earlier = await Receipts.fromJwk(JSON.stringify(old));
    for (const receipts of [api.app.get(Receipts), earlier])
      expect(JSON.parse((await verify(await receipts.sign(claims))).stdout)).toEqual(claims);
  });

  it('refuse what was altered, and what a stranger has signed', async () => {
    const [head, , signature] = (await api.app.get(Receipts).sign(claims)).split('.');
    const altered = Buffer.from(JSON.stringify({ ...claims, decision: 'decline' })).toString('base64url');
    await expect(verify(`${head}.${altered}.${signature}`)).rejects.toThrow('JWSSignatureVerificationFailed');
    const stranger = await Receipts.fromJwk(JSON.stringify(await newKey('r9')));
    await expect(verify(await stranger.sign(claims))).rejects.toThrow('JWKSNoMatchingKey');
  });
});
