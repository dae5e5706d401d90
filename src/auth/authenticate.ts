/**
 * The door: stands before the body parsers, so that a stranger's body is never read and routes are not told apart for strangers.
 * What a known actor may do is {@link ScopeGuard}'s business.
 */

import type { NextFunction, Request, Response } from 'express';
import { Problem } from '../problems/problem.js';
import type { AuthenticatedRequest } from './decorators.js';
import type { Tokens } from './tokens.js';

/** Open to everybody: health, and what a verifier of receipts needs. */
export const publicPaths: ReadonlySet<string> = new Set(['/health/live', '/health/ready', '/v1/receipts/keys']);

/** @param openDocs whether the description of the API is open too: a browser that opens a page sends no token */
export function authenticate(tokens: Tokens, openDocs: boolean) {
  return (request: AuthenticatedRequest, _response: Response, next: NextFunction): void => {
    if (publicPaths.has(request.path) || (openDocs && isDescription(request.path))) return next();
    actorOf(request, tokens).then((actor) => {
      request.actor = actor;
      next();
    }, next);
  };
}

function isDescription(path: string): boolean {
  return path === '/openapi.json' || path === '/docs' || path.startsWith('/docs/');
}

async function actorOf(request: Request, tokens: Tokens) {
  const [, token] = /^Bearer +([^ ]+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) throw new Problem('token_missing');
  return tokens.verify(token);
}
