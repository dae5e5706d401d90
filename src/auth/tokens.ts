/** Bearer tokens: JWTs of one issuer for one audience, checked against its JWKS. Nothing else says who the actor is (design §1). */

import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { type JWTPayload, type JWTVerifyGetKey, createLocalJWKSet, createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { type AuthConfig, Config, ConfigFault } from '../config/config.js';
import { Problem } from '../problems/problem.js';
import { type Actor, type Scope, isPrincipal, scopes } from './actor.js';

/** Signatures with a public key only: with `HS256` allowed, anyone who knows the public key could sign; `none` needs no key at all. */
const algorithms = ['EdDSA', 'ES256', 'RS256'];

/** An issuer that does not answer in this time holds up requests for longer than callers wait. */
const jwksTimeoutMs = 5_000;
const maxActFor = 1_000;

@Injectable()
export class Tokens {
  private readonly config: AuthConfig;
  private readonly keys: JWTVerifyGetKey;

  constructor(config: Config) {
    if (config.auth === undefined) throw new ConfigFault(['this process was not told where tokens come from']);
    this.config = config.auth;
    this.keys = keysOf(config.auth);
  }

  /**
   * @param token JWS compact
   * @throws {Problem} token_invalid, token_expired, issuer_unavailable
   */
  async verify(token: string): Promise<Actor> {
    try {
      const { issuer, audience } = this.config;
      const { payload } = await jwtVerify(token, this.keys, { algorithms, issuer, audience, requiredClaims: ['exp', 'sub'] });
      return actorOf(payload);
    } catch (error) {
      throw problemOf(error);
    }
  }
}

function keysOf({ jwks }: AuthConfig): JWTVerifyGetKey {
  if ('url' in jwks) return createRemoteJWKSet(new URL(jwks.url), { timeoutDuration: jwksTimeoutMs });
  try {
    return createLocalJWKSet(JSON.parse(readFileSync(jwks.file, 'utf8')));
  } catch {
    throw new ConfigFault(['PARLEY_JWKS_FILE: expected the path of a readable JSON Web Key Set']);
  }
}

function actorOf(claims: JWTPayload): Actor {
  const { tenant, sub, scope, act_for: actFor = [] } = claims;
  if (!isPrincipal(tenant) || !isPrincipal(sub)) throw new Problem('token_invalid', { detail: 'claims tenant and sub' });
  if (scope !== undefined && typeof scope !== 'string') throw new Problem('token_invalid', { detail: 'claim scope' });
  if (!isListOfText(actFor)) throw new Problem('token_invalid', { detail: 'claim act_for' });
  const granted = new Set((scope ?? '').split(' '));
  return { tenant, subject: sub, scopes: new Set<Scope>(scopes.filter((each) => granted.has(each))), actFor };
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= maxActFor && value.every((each) => typeof each === 'string');
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof errors.JWTExpired) return new Problem('token_expired');
  // jose reports an issuer's failure with its base class, and lets the failure of fetch itself pass.
  const isIssuers =
    error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError) || error.code === 'ERR_JOSE_GENERIC';
  return new Problem(isIssuers ? 'issuer_unavailable' : 'token_invalid');
}
