/**
 * Keys for development and tests: made once per state folder, readable by their owner alone. Production brings its own (see the
 * variables that `environment()` sets).
 */

import { randomBytes } from 'node:crypto';
import { access, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWK } from 'jose';

export const devIssuer = 'urn:parley:development-issuer';
export const devAudience = 'parley';

/** Files of a state folder; what they hold never leaves it. */
const files = {
  codecKeys: 'codec.keys',
  sealKeys: 'seal.keys',
  receiptKey: 'receipt-key.json',
  issuerKey: 'issuer-key.json',
  jwks: 'jwks.json',
} as const;

export class DevSecrets {
  private constructor(private readonly dir: string) {}

  /** Reads the folder's keys and makes those that are missing. */
  static async in(dir: string): Promise<DevSecrets> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const once = async (name: string, make: () => string | Promise<string>): Promise<void> => keepOnce(join(dir, name), make);
    await once(files.codecKeys, () => `codec-1:${randomBytes(32).toString('base64')}`);
    await once(files.sealKeys, () => `seal-1:${randomBytes(32).toString('base64')}`);
    await once(files.receiptKey, async () => JSON.stringify(await newSigningKey('receipt-1')));
    await once(files.issuerKey, async () => JSON.stringify(await newSigningKey('issuer-1')));
    await once(files.jwks, async () => JSON.stringify({ keys: [publicPart(await readJwk(join(dir, files.issuerKey)))] }));
    return new DevSecrets(dir);
  }

  /** What the API and the worker are told, by file, so that no key stands in a process list. */
  environment(): Record<string, string> {
    return {
      PARLEY_CODEC_KEYS_FILE: join(this.dir, files.codecKeys),
      PARLEY_SEAL_KEYS_FILE: join(this.dir, files.sealKeys),
      PARLEY_RECEIPT_KEY_FILE: join(this.dir, files.receiptKey),
      PARLEY_JWKS_FILE: join(this.dir, files.jwks),
      PARLEY_ISSUER: devIssuer,
      PARLEY_AUDIENCE: devAudience,
    };
  }

  /** The development issuer's private key. */
  async issuerKey(): Promise<JWK> {
    return await readJwk(join(this.dir, files.issuerKey));
  }
}

/** Written aside, then linked to its name: a link never overwrites, so two launchers at once agree on one key. */
async function keepOnce(path: string, make: () => string | Promise<string>): Promise<void> {
  if (await exists(path)) return;
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(aside, await make(), { mode: 0o600, flag: 'wx' });
  try {
    await link(aside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(aside);
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

async function newSigningKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'EdDSA', use: 'sig' };
}

function publicPart({ d: _private, ...rest }: JWK): JWK {
  return rest;
}

async function readJwk(path: string): Promise<JWK> {
  return JSON.parse(await readFile(path, 'utf8')) as JWK;
}
