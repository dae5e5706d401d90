/** A Lua script: one atomic step of the store. */

import { createHash } from 'node:crypto';
import type { Redis } from './redis.js';

export class Script {
  private readonly sha1: string;

  constructor(private readonly lua: string) {
    this.sha1 = createHash('sha1').update(lua).digest('hex');
  }

  /** Sends the text only when the store does not know it yet: NOSCRIPT proves that nothing ran. */
  async run(redis: Redis, keys: string[], args: string[]): Promise<unknown> {
    try {
      return await redis.evalSha(this.sha1, { keys, arguments: args });
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(this.lua, { keys, arguments: args });
    }
  }
}
