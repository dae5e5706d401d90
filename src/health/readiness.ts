/**
 * Whether requests should come here: from the moment the store and Temporal have answered once until the process is told to stop.
 * A later outage does not take the API out of service: reads may still work, and each request says itself what is away.
 */

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Redis } from '../store/redis.js';
import { REDIS } from '../store/redis.token.js';
import { Temporal } from '../temporal/temporal.js';

const probeIntervalMs = 250;

export type ReadinessState = 'starting' | 'ready' | 'stopping';

@Injectable()
export class Readiness {
  private readonly stop = new AbortController();
  private store = false;
  private temporal = false;

  constructor(
    @Inject(REDIS) private readonly redis: Redis,
    private readonly temporalServer: Temporal,
  ) {
    // Every waiting request listens to it, and there is no bound on those.
    setMaxListeners(0, this.stop.signal);
  }

  get state(): ReadinessState {
    if (this.stop.signal.aborted) return 'stopping';
    return this.store && this.temporal ? 'ready' : 'starting';
  }

  /** What has answered so far. */
  get seen(): { store: boolean; temporal: boolean } {
    return { store: this.store, temporal: this.temporal };
  }

  /** Aborted when the process is told to stop: a request that only waits should answer now. */
  get stopping(): AbortSignal {
    return this.stop.signal;
  }

  /** Probes until everything has answered once. Resolves at once when the process is told to stop. */
  async untilReady(): Promise<void> {
    while (this.state === 'starting') {
      this.store ||= await this.redis.ping().then(
        () => true,
        () => false,
      );
      this.temporal ||= await this.temporalServer.isReachable();
      if (this.state === 'starting') await sleep(probeIntervalMs, undefined, { signal: this.stopping }).catch(() => undefined);
    }
  }

  beginStop(): void {
    this.stop.abort();
  }
}
