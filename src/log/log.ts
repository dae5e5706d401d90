/** The log: JSON lines on standard output, one per event. Contents of calls, answers, states and results never go into it (promise 4). */

import type { LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.js';

/** Type and injection token in one: Nest needs a class to inject by, pino offers only an interface. */
export interface Log extends Logger {}
export abstract class Log {}

export function openLog(config: Pick<Config, 'logLevel' | 'process'>): Log {
  // Node's own stream: pino's would try again for ever to write to a reader that is gone, and the process could not end.
  process.stdout.off('error', readerIsGone).on('error', readerIsGone);
  return pino(
    {
      level: config.logLevel,
      base: { process: config.process },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      serializers: { err: describeFault },
    },
    process.stdout,
  );
}

/** Nobody reads the log any more; that is no reason to drop what people have asked for. */
function readerIsGone(): void {}

/**
 * What may be logged of an unexpected error: its names, codes and places. Not its message, which may quote a body or a server's words
 * (a JSON parser's does).
 */
export function describeFault(fault: unknown): object {
  if (!(fault instanceof Error)) return { name: typeof fault };
  const { code } = fault as { code?: unknown };
  const places = (fault.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    name: fault.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    at: places.slice(0, 12).map((line) => line.trim().slice(3)),
    ...(fault.cause instanceof Error ? { cause: describeFault(fault.cause) } : {}),
  };
}

/** Nest's own words: how it wires itself is a detail for `debug`, its complaints keep their level. */
export function nestLoggerOf(log: Log): LoggerService {
  const at =
    (level: 'debug' | 'warn' | 'error') =>
    (text: unknown, ...rest: unknown[]) =>
      log[level]({ event: 'nest', context: rest.at(-1) }, String(text));
  return { log: at('debug'), debug: at('debug'), verbose: at('debug'), warn: at('warn'), error: at('error'), fatal: at('error') };
}
