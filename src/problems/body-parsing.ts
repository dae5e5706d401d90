/** Reading bodies: JSON alone, within a limit, and a problem for everything else. Stands behind {@link authenticate}. */

import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { Problem } from './problem.js';

/** Room for the largest arguments a policy can allow (1 MiB), written with escapes. */
const bodyLimitBytes = 4 * 1024 * 1024;
/** Temporal's UI sends a page of history at once. */
const codecLimitBytes = 20 * 1024 * 1024;

export function parseBodies(app: NestExpressApplication): void {
  const isCodec = (request: { url?: string | undefined }) => request.url?.startsWith('/codec/') === true;
  app.use(requireJson);
  // `strict: false` leaves it to the schema to say that a body should be an object.
  app.useBodyParser('json', { limit: codecLimitBytes, strict: false, type: (request) => isCodec(request) });
  app.useBodyParser('json', { limit: bodyLimitBytes, strict: false, type: (request) => !isCodec(request) });
  app.use(explainParser);
}

function requireJson(request: Request, _response: Response, next: NextFunction): void {
  const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (hasBody && request.is('application/json') === false) return next(new Problem('unsupported_media_type'));
  next();
}

/** The parser's own errors quote the body: only their type is looked at. */
function explainParser(error: unknown, _request: Request, _response: Response, next: NextFunction): void {
  const { type, status } = error as { type?: unknown; status?: unknown };
  if (error instanceof Problem || typeof type !== 'string') return next(error);
  if (type === 'entity.too.large') return next(new Problem('body_too_large'));
  if (status === 415) return next(new Problem('unsupported_media_type'));
  next(new Problem('malformed_json'));
}
