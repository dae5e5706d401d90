/** Tokens of the development issuer: what an identity provider does in production. */

import { importJWK, SignJWT } from 'jose';
import { devAudience, devIssuer, type DevSecrets } from './dev-secrets.js';

export interface TokenWish {
  readonly tenant: string;
  readonly sub: string;
  /** Default: everything a person or an agent needs; not `codec:decode`, which is an operator's. */
  readonly scopes?: readonly string[];
  /** Subjects on whose behalf this principal may call; `*` is everybody of the tenant. */
  readonly actFor?: readonly string[];
  /** Default one hour; negative makes an expired one. */
  readonly ttlSeconds?: number;
  readonly issuer?: string;
  readonly audience?: string;
}

export const usualScopes: readonly string[] = ['calls:write', 'consents:read', 'consents:decide', 'audit:read'];

export async function devToken(secrets: DevSecrets, wish: TokenWish): Promise<string> {
  const jwk = await secrets.issuerKey();
  const key = await importJWK(jwk, 'EdDSA');
  const claims = {
    tenant: wish.tenant,
    scope: (wish.scopes ?? usualScopes).join(' '),
    ...(wish.actFor === undefined ? {} : { act_for: wish.actFor }),
  };
  const now = Math.floor(Date.now() / 1000);
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', ...(jwk.kid === undefined ? {} : { kid: jwk.kid }) })
    .setSubject(wish.sub)
    .setIssuer(wish.issuer ?? devIssuer)
    .setAudience(wish.audience ?? devAudience)
    .setIssuedAt(now)
    .setExpirationTime(now + (wish.ttlSeconds ?? 3600))
    .sign(key);
}
