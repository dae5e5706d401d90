import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ScopeGuard } from './scope.guard.js';
import { Tokens } from './tokens.js';

@Module({ providers: [Tokens, { provide: APP_GUARD, useClass: ScopeGuard }], exports: [Tokens] })
export class AuthModule {}
