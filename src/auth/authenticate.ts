/**
 * The door: stands before the body parsers, so that a stranger's body is never read and routes are not told apart for strangers.
 * What a known actor may do is {@link ScopeGuard}'s business.
 */

import type { NextFunction, Request, Response } from 'express';
import { Problem } from '../problems/problem.js';
import type { AuthenticatedRequest } from './decorators.js';
import type { Tokens } from './tokens.js';

/** No route is open but health. */
export const publicPaths: ReadonlySet<string> = new Set(['/health/live', '/health/ready']);

export function authenticate(tokens: Tokens) {
  return (request: AuthenticatedRequest, _response: Response, next: NextFunction): void => {
    if (publicPaths.has(request.path)) return next();
    actorOf(request, tokens).then((actor) => {
      request.actor = actor;
      next();
    }, next);
  };
}

async function actorOf(request: Request, tokens: Tokens) {
  const [, token] = /^Bearer +([^ ]+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) throw new Problem('token_missing');
  return tokens.verify(token);
}
