import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Config } from '../config/config.js';
import { Tokens } from './tokens.js';

const keys = {
  PARLEY_CODEC_KEYS: 'unused',
  PARLEY_SEAL_KEYS: 'unused',
  PARLEY_RECEIPT_KEY: 'unused',
  PARLEY_ISSUER: 'urn:issuer',
  PARLEY_AUDIENCE: 'parley',
};
const tokensFrom = (jwksUrl: string) => new Tokens(Config.read('api', { ...keys, PARLEY_JWKS_URL: jwksUrl }));

let issuer: Server;
let jwksUrl: string;
let token: (claims: object) => Promise<string>;
beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }] });
  issuer = createServer((_, response) => response.end(jwks)).listen(0, '127.0.0.1');
  await new Promise((listening) => issuer.once('listening', listening));
  jwksUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks`;
  token = async (claims) =>
    new SignJWT({ tenant: 't1', sub: 'user-1', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer('urn:issuer')
      .setAudience('parley')
      .setExpirationTime('1h')
      .sign(privateKey);
});
afterAll(() => issuer.close());

describe('Tokens', () => {
  it('takes tenant, subject, scopes and act_for from the token, and ignores scopes it does not know', async () => {
    const actor = await tokensFrom(jwksUrl).verify(await token({ scope: 'calls:write  openid audit:read', act_for: ['user-2'] }));
    expect(actor).toEqual({
      tenant: 't1',
      subject: 'user-1',
      scopes: new Set(['calls:write', 'audit:read']),
      actFor: ['user-2'],
    });
  });

  it('grants nothing to a token without scope', async () => {
    expect((await tokensFrom(jwksUrl).verify(await token({}))).scopes.size).toBe(0);
  });

  it.each([
    { tenant: undefined },
    { tenant: 7 },
    { sub: '' },
    { scope: ['calls:write'] },
    { act_for: 'user-2' },
    { act_for: [7] },
  ])('refuses the claims %j (token_invalid)', async (claims) => {
    await expect(tokensFrom(jwksUrl).verify(await token(claims))).rejects.toMatchObject({ code: 'token_invalid' });
  });

  it('refuses what is no token (token_invalid)', async () => {
    await expect(tokensFrom(jwksUrl).verify('a.b.c')).rejects.toMatchObject({ code: 'token_invalid' });
  });

  it('says that it is the issuer who is away (issuer_unavailable)', async () => {
    await expect(tokensFrom('http://127.0.0.1:1/jwks').verify(await token({}))).rejects.toMatchObject({
      code: 'issuer_unavailable',
    });
  });
});
