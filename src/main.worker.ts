/** The worker process: start, say so, and one way down. Nest's shutdown hooks are off here, they would end the process mid-drain. */

import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { CallSteps } from '../activities/call-steps.js';
import { connectionActivities, legActivities } from '../activities/leg-activities.js';
import { SendLeg } from '../activities/send-leg.js';
import { Config } from './config/config.js';
import { KeyRingCodec } from './crypto/codec.js';
import { takeOverConsole } from './log/console.js';
import { nestLoggerOf, openLog } from './log/log.js';
import { failToStart } from './log/start-failure.js';
import { LiveConnections } from './mcp/live-connections.js';
import { ReconcileSchedule } from './reconcile/schedule.js';
import { ToolLists } from './servers/published-tools.js';
import { livesOnWorker, Registry } from './servers/registry.js';
import { serveHealth } from './worker/health-server.js';
import { introduce } from './worker/introductions.js';
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
  const connections = app.get(LiveConnections);
  const onFault = (invocation: string, err: unknown) => log.error({ event: 'leg_unsettled', invocation, err });
  const legs = legActivities(app.get(SendLeg), connections, onFault);
  const held = app.get(Registry).all().filter(livesOnWorker);
  const own = { name: connections.queue, activities: connectionActivities(connections) };
  const workers = await TemporalWorkers.create(
    config,
    app.get(KeyRingCodec),
    app.get(CallSteps),
    legs,
    held.length > 0 ? own : undefined,
  );
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
      connections.release();
    });
  }
  log.info({ event: 'ready', url: health.url }, 'ready');
  void introduce(held, connections, app.get(ToolLists));

  try {
    await running;
  } finally {
    ready = false;
    await reconciling.stop();
    await connections.close();
    await app.close();
    health.server.close();
  }
  log.info({ event: 'stopped' }, 'stopped');
  process.exit(0);
}

main().catch(failToStart('worker'));
