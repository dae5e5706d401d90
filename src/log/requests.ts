/** One line per request: what was asked, how it ended, how long it took. Ids may be in the path; what callers type may be in a query. */

import type { NextFunction, Request, Response } from 'express';
import type { AuthenticatedRequest } from '../auth/decorators.js';
import type { Log } from './log.js';

export function logRequests(log: Log) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.on('close', () => {
      const { actor } = request as AuthenticatedRequest;
      const isProbe = request.path.startsWith('/health/');
      log[isProbe ? 'debug' : 'info'](
        {
          event: 'request',
          method: request.method,
          route: (request.route as { path?: string } | undefined)?.path,
          status: response.statusCode,
          ms: Math.round((performance.now() - startedAt) * 10) / 10,
          ...(actor === undefined ? {} : { tenant: actor.tenant, actor: actor.subject }),
          ...(response.writableFinished ? {} : { broken: true }),
        },
        'request',
      );
    });
    next();
  };
}
