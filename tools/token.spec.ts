import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { devAudience, devIssuer, DevSecrets } from './dev-secrets.js';
import { devToken } from './dev-token.js';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-secrets-'));
});
afterAll(async () => {
  await rm(dir, { recursive: true });
});

describe('DevSecrets', () => {
  it('makes keys once, for their owner alone, also when two launchers start at once', async () => {
    await Promise.all([DevSecrets.in(dir), DevSecrets.in(dir)]);
    const before = await readFile(join(dir, 'seal.keys'), 'utf8');
    const environment = (await DevSecrets.in(dir)).environment();
    expect(await readFile(join(dir, 'seal.keys'), 'utf8')).toBe(before);
    const keyFiles = Object.keys(environment).filter((name) => name.endsWith('_FILE'));
    const modes = await Promise.all(keyFiles.map(async (name) => (await stat(environment[name]!)).mode & 0o777));
    expect(modes).toEqual(keyFiles.map(() => 0o600));
  });

  it('publishes no private part of the issuer key', async () => {
    const { PARLEY_JWKS_FILE } = (await DevSecrets.in(dir)).environment();
    expect(JSON.parse(await readFile(PARLEY_JWKS_FILE!, 'utf8'))).toMatchObject({
      keys: [expect.not.objectContaining({ d: expect.anything() })],
    });
  });
});

describe('devToken', () => {
  it('is verified by the published key and carries tenant, subject, scopes and act_for', async () => {
    const secrets = await DevSecrets.in(dir);
    const token = await devToken(secrets, { tenant: 't1', sub: 'agent', scopes: ['calls:write'], actFor: ['*'] });
    const jwks = JSON.parse(await readFile(secrets.environment()['PARLEY_JWKS_FILE']!, 'utf8')) as JSONWebKeySet;
    const { payload } = await jwtVerify(token, createLocalJWKSet(jwks), { issuer: devIssuer, audience: devAudience });
    expect(payload).toMatchObject({ tenant: 't1', sub: 'agent', scope: 'calls:write', act_for: ['*'] });
  });
});
