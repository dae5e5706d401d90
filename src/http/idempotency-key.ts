/** The `Idempotency-Key` of a POST that creates or decides: chosen by the caller, once per intention. */

import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Request } from 'express';
import { Problem } from '../problems/problem.js';

/** Characters; the same bound for every route. */
const maxKeyLength = 255;

/** @throws {Problem} `idempotency_key_missing`, `idempotency_key_invalid` */
export function idempotencyKeyOf(header: string | string[] | undefined): string {
  const key = Array.isArray(header) ? header.join(', ') : header;
  if (key === undefined) throw new Problem('idempotency_key_missing');
  if (key.length === 0 || key.length > maxKeyLength) throw new Problem('idempotency_key_invalid');
  return key;
}

/** Parameter decorator: the request's idempotency key. */
export const IdempotencyKey = createParamDecorator((_: unknown, context: ExecutionContext) =>
  idempotencyKeyOf(context.switchToHttp().getRequest<Request>().headers['idempotency-key']),
);

/** Method decorator: puts the header into the API description. */
export const ApiIdempotent = () =>
  applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: true,
      description: `Any string of 1 to ${maxKeyLength} characters. The same key with the same body gets the first reply again.`,
    }),
  );
