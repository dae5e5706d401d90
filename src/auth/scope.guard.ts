/** Lets an actor into a route whose scope it has. A route that declares no scope is closed: forgetting it must not open anything. */

import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Problem } from '../problems/problem.js';
import type { Scope } from './actor.js';
import { type AuthenticatedRequest, publicKey, requiredScopesKey } from './decorators.js';

@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const places = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean>(publicKey, places)) return true;

    const { actor } = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (actor === undefined) throw new Problem('token_missing');
    const sufficient = this.reflector.getAllAndOverride<Scope[]>(requiredScopesKey, places) ?? [];
    if (sufficient.some((scope) => actor.scopes.has(scope))) return true;
    throw new Problem('scope_missing', { detail: `needs ${sufficient.join(' or ') || 'a scope that nobody has'}` });
  }
}
