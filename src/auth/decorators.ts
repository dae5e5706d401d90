/** How a route says whom it is open to. A route that says nothing is open to nobody, see {@link ScopeGuard}. */

import { type ExecutionContext, SetMetadata, applyDecorators, createParamDecorator } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import type { Request } from 'express';
import { Problem } from '../problems/problem.js';
import type { Actor, Scope } from './actor.js';

export const requiredScopesKey = 'parley:scopes';
export const publicKey = 'parley:public';

/** A request that {@link authenticate} let through. */
export type AuthenticatedRequest = Request & { actor?: Actor };

/** Opens a route to tokens with any one of these scopes. */
export const RequiresScope = (first: Scope, ...others: Scope[]): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(requiredScopesKey, [first, ...others]), ApiBearerAuth());

/** Opens a route to everybody. Its path must also be in {@link publicPaths}. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(publicKey, true);

/** The {@link Actor} of the request. */
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext): Actor => {
  const actor = context.switchToHttp().getRequest<AuthenticatedRequest>().actor;
  if (actor === undefined) throw new Problem('token_missing');
  return actor;
});
