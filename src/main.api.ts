/** The API process: start, say so, and one way down. */

import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createApi } from './api.js';
import { Config } from './config/config.js';
import { Readiness } from './health/readiness.js';
import { takeOverConsole } from './log/console.js';
import { type Log, openLog } from './log/log.js';
import { failToStart } from './log/start-failure.js';

async function main(): Promise<void> {
  const config = Config.read('api');
  const log = openLog(config);
  takeOverConsole(log);
  const app = await createApi(config, log);
  await app.listen(config.http.port, config.http.host);
  stopOnSignal(app, config, log);

  const url = urlOf(app, config.http.host);
  log.info({ event: 'listening', url }, 'listening');
  const readiness = app.get(Readiness);
  await readiness.untilReady();
  if (readiness.state === 'ready') log.info({ event: 'ready', url }, 'ready');
}

/** The only shutdown path. Not ready first, so that nothing new is routed here; then the listener, when the last request is answered. */
function stopOnSignal(app: NestExpressApplication, { stopDelayMs }: Config, log: Log): void {
  const stop = async (signal: string) => {
    log.info({ event: 'stopping', signal }, 'stopping');
    app.get(Readiness).beginStop();
    await sleep(stopDelayMs);
    await app.close();
    log.info({ event: 'stopped' }, 'stopped');
  };
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => {
      stop(signal).then(
        () => process.exit(0),
        (error: unknown) => {
          log.fatal({ event: 'stop_failed', err: error }, 'the process could not stop in order');
          process.exit(1);
        },
      );
    });
  }
}

function urlOf(app: NestExpressApplication, host: string): string {
  const address = app.getHttpServer().address() as { port: number };
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

main().catch(failToStart('api'));
