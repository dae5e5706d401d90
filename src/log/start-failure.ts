/** The last words of a process that cannot start. At this point no request was served, so messages hold nothing of callers. */

import { inspect } from 'node:util';
import { type ProcessName } from '../config/config.js';
import { openLog } from './log.js';

/** Faults of ours explain themselves; their messages never hold a value of the configuration. */
const selfExplaining = new Set(['ConfigFault', 'RegistryFault', 'StoreFault']);

export function failToStart(process: ProcessName) {
  return (error: unknown): void => {
    const reason = reasonOf(error);
    openLog({ logLevel: 'fatal', process }).fatal({ event: 'start_failed', reason }, `the ${process} cannot start`);
    globalThis.process.exit(1);
  };
}

/** Why a process ends, for whoever started it. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && selfExplaining.has(error.name) ? error.message : inspect(error);
}
