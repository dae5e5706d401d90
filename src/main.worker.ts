/** The worker process: start, say so, and one way down. Nest's shutdown hooks are off here, they would end the process mid-drain. */

import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { CallSteps } from '../activities/call-steps.js';
import { legActivities } from '../activities/leg-activities.js';
import { SendLeg } from '../activities/send-leg.js';
import { Config } from './config/config.js';
import { KeyRingCodec } from './crypto/codec.js';
import { takeOverConsole } from './log/console.js';
import { nestLoggerOf, openLog } from './log/log.js';
import { failToStart } from './log/start-failure.js';
import { ReconcileSchedule } from './reconcile/schedule.js';
import { serveHealth } from './worker/health-server.js';
import { installRuntime } from './worker/runtime.js';
import { TemporalWorkers } from './worker/temporal-workers.js';
import { WorkerModule } from './worker/worker.module.js';

async function main(): Promise<void> {
  const config = Config.read('worker');
  const log = openLog(config);
  takeOverConsole(log);
  installRuntime(log);
  const app = await NestFactory.createApplicationContext(WorkerModule.with(config, log), {
    logger: nestLoggerOf(log),
    abortOnError: false,
  });
  const legs = legActivities(app.get(SendLeg), (invocation, err) => log.error({ event: 'leg_unsettled', invocation, err }));
  const workers = await TemporalWorkers.create(config, app.get(KeyRingCodec), app.get(CallSteps), legs);
  const running = workers.run();
  const reconciling = app.get(ReconcileSchedule);
  reconciling.start();

  let ready = true;
  const health = await serveHealth(config.http.host, config.http.port, () => ready);
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => {
      log.info({ event: 'stopping', signal }, 'stopping');
      ready = false;
      void reconciling.stop();
      workers.shutdown();
    });
  }
  log.info({ event: 'ready', url: health.url }, 'ready');

  try {
    await running;
  } finally {
    ready = false;
    await reconciling.stop();
    await app.close();
    health.server.close();
  }
  log.info({ event: 'stopped' }, 'stopped');
  process.exit(0);
}

main().catch(failToStart('worker'));
