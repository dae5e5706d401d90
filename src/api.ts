/** The API as an application: what stands before its routes, in the order a request meets it. */

import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiModule } from './api.module.js';
import { authenticate } from './auth/authenticate.js';
import { Tokens } from './auth/tokens.js';
import { allowUi } from './codec/cors.js';
import type { Config } from './config/config.js';
import { type Log, nestLoggerOf } from './log/log.js';
import { logRequests } from './log/requests.js';
import { serveDescription } from './openapi/openapi.js';
import { parseBodies } from './problems/body-parsing.js';

/** @throws {ConfigFault} {@link RegistryFault} {@link StoreFault} when it cannot run as configured */
export async function createApi(config: Config, log: Log): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(ApiModule.with(config, log), {
    bodyParser: false,
    abortOnError: false,
    logger: nestLoggerOf(log),
  });
  furnish(app, config, log);
  serveDescription(app);
  return app;
}

/** The middleware before every route. */
export function furnish(app: NestExpressApplication, config: Config, log: Log): void {
  app.disable('x-powered-by');
  // Contents of one person's calls: no cache may keep them, and validators of them would be digests of secrets.
  app.disable('etag');
  app.use(logRequests(log));
  if (config.uiOrigin !== undefined) app.use(allowUi(config.uiOrigin));
  app.use(authenticate(app.get(Tokens), config.openDocs));
  parseBodies(app);
}
