/** Temporal's runtime, installed once per process, before anything else of it is used. */

import { makeTelemetryFilterString, Runtime, type LogLevel as TemporalLevel } from '@temporalio/worker';
import type { Log } from '../log/log.js';

const levels: Record<TemporalLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

/** What Temporal adds to its log lines and is harmless: ids, types and counts. Errors are left out, for they quote payloads. */
const harmless = ['workflowId', 'runId', 'workflowType', 'taskQueue', 'activityId', 'activityType', 'attempt', 'namespace'];

export function installRuntime(log: Log): void {
  Runtime.install({
    // The process itself owns its way down, see main.worker.ts.
    shutdownSignals: [],
    logger: {
      log: (level, message, meta) => write(log, level, message, meta),
      trace: (message, meta) => write(log, 'TRACE', message, meta),
      debug: (message, meta) => write(log, 'DEBUG', message, meta),
      info: (message, meta) => write(log, 'INFO', message, meta),
      warn: (message, meta) => write(log, 'WARN', message, meta),
      error: (message, meta) => write(log, 'ERROR', message, meta),
    },
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} },
    },
  });
}

function write(log: Log, level: TemporalLevel, message: string, meta: object = {}): void {
  const fields: Record<string, unknown> = { event: 'temporal' };
  for (const [name, value] of Object.entries(meta)) {
    if (harmless.includes(name) && ['string', 'number'].includes(typeof value)) fields[name] = value;
    if (name === 'error' && value instanceof Error) fields['err'] = value;
  }
  log[levels[level]](fields, message);
}
