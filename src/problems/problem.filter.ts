/** Turns whatever was thrown into application/problem+json. What was not meant is `internal`, and only the log hears more of it. */

import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Log } from '../log/log.js';
import { isStoreOutage } from '../store/outage.js';
import { allowedMethods } from './allowed-methods.js';
import { Problem } from './problem.js';

/** Reconnecting to the store takes about a second. */
const storeRetryAfterSeconds = 2;

@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly log: Log) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const problem = this.problemOf(thrown, request, response);
    // Half a reply is out: the only honest end is to break the connection.
    if (response.headersSent) return void response.destroy();
    sendProblem(problem, response);
  }

  private problemOf(thrown: unknown, request: Request, response: Response): Problem {
    if (thrown instanceof Problem) return thrown;
    if (thrown instanceof HttpException && thrown.getStatus() < 500) return problemOfNest(thrown, request, response);
    if (isStoreOutage(thrown)) return new Problem('store_unavailable', { retryAfterSeconds: storeRetryAfterSeconds });
    this.log.error({ event: 'fault', method: request.method, route: routeOf(request), err: thrown }, 'unexpected error');
    return new Problem('internal');
  }
}

function sendProblem(problem: Problem, response: Response): void {
  const { retryAfterSeconds } = problem.extra;
  if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
  if (problem.status === 401) response.setHeader('WWW-Authenticate', challengeOf(problem));
  response.status(problem.status).type('application/problem+json').send(JSON.stringify(problem));
}

/** RFC 6750 §3: a request without a token gets no error code. */
function challengeOf(problem: Problem): string {
  return problem.code === 'token_missing' ? 'Bearer' : 'Bearer error="invalid_token"';
}

/** Nest itself speaks of nothing but routes it does not know and addresses it cannot decode. */
function problemOfNest(thrown: HttpException, request: Request, response: Response): Problem {
  if (thrown.getStatus() !== 404) return new Problem('query_invalid');
  const allowed = allowedMethods(request);
  if (allowed.length === 0) return new Problem('route_unknown');
  response.setHeader('Allow', allowed.join(', '));
  return new Problem('method_not_allowed');
}

/** The pattern, not the address: an address may hold what a caller typed. */
function routeOf(request: Request): string | undefined {
  return (request.route as { path?: string } | undefined)?.path;
}
