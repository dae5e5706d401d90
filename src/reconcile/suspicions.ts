/**
 * From one run to the next: what looked wrong with calls whose workflow is alive, and when it was asked to publish again. What is not
 * found again in a run is forgotten.
 */

import { Inject, Injectable } from '@nestjs/common';
import { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import { REDIS } from '../store/redis.token.js';
import type { SuspicionCode } from './decide.js';

export interface Suspicion {
  readonly code: SuspicionCode;
  /** Epoch milliseconds: when it was first seen. */
  readonly since: number;
  /** When the workflow was last asked to publish again; 0 for never. */
  readonly nudgedAt: number;
}

/** A reconciler that does not run any more leaves nothing behind. */
const ttlMs = 24 * 60 * 60_000;

@Injectable()
export class Suspicions {
  constructor(
    @Inject(REDIS) private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  async recall(): Promise<Map<string, Suspicion>> {
    const kept = Object.entries(await this.redis.hGetAll(this.keys.suspicions()));
    return new Map(kept.map(([name, text]) => [name, JSON.parse(text) as Suspicion]));
  }

  async keep(suspicions: ReadonlyMap<string, Suspicion>, before: ReadonlyMap<string, Suspicion>): Promise<void> {
    const key = this.keys.suspicions();
    const gone = [...before.keys()].filter((name) => !suspicions.has(name));
    if (gone.length > 0) await this.redis.hDel(key, gone);
    if (suspicions.size === 0) return;
    await this.redis.hSet(key, Object.fromEntries([...suspicions].map(([name, each]) => [name, JSON.stringify(each)])));
    await this.redis.pExpire(key, ttlMs);
  }
}
