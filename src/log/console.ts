/**
 * Libraries that write to the console by themselves: the MCP SDK quotes a server's words there, line breaks included, when it leaves a tool
 * out. Their words stay out of the log, like all content (promise 4); the place in the code tells what was said.
 */

import { describeFault, type Log } from './log.js';

const levels = { debug: 'debug', log: 'debug', info: 'debug', warn: 'debug', error: 'warn' } as const;

/** For good: Parley's own code writes to the log only. */
export function takeOverConsole(log: Log, target: Pick<Console, keyof typeof levels> = globalThis.console): void {
  for (const [method, level] of Object.entries(levels) as [keyof typeof levels, 'debug' | 'warn'][]) {
    target[method] = () => {
      if (!log.isLevelEnabled(level)) return;
      log[level]({ event: 'console', from: describeFault(new Error(method)) }, 'a library wrote to the console');
    };
  }
}
