/** When a worker reconciles: soon after its start and then regularly. Of many workers one takes the turn. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Log } from '../log/log.js';
import { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import { REDIS } from '../store/redis.token.js';
import { Script } from '../store/script.js';
import { Reconciler } from './reconciler.js';

/** Long enough for workflows that waited for a worker to say what they know by themselves. */
const firstDelayMs = 5_000;
/** Of a turn that is taken; it is prolonged while its worker runs. */
const turnMs = 30_000;

/** KEYS turn. ARGV who, ms. Also the end of a turn: whoever comes a little later need not look again. */
const prolongScript = new Script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

@Injectable()
export class ReconcileSchedule {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private readonly self = randomUUID();

  constructor(
    private readonly reconciler: Reconciler,
    @Inject(REDIS) private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly config: Config,
    private readonly log: Log,
  ) {}

  start(): void {
    const { intervalMs } = this.config.reconcile;
    if (intervalMs > 0) this.running = this.repeat(intervalMs);
  }

  /** Resolves when the run at hand, if there is one, has come to its next call and stopped. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async repeat(intervalMs: number): Promise<void> {
    const { signal } = this.stopping;
    for (let waitMs = Math.min(firstDelayMs, intervalMs); ; waitMs = intervalMs) {
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await this.turn(intervalMs).catch((error: unknown) => {
        this.log.warn({ event: 'reconcile_skipped', err: error }, 'the store did not say whose turn it is');
      });
    }
  }

  private async turn(intervalMs: number): Promise<void> {
    const turn = this.keys.reconcileTurn();
    const taken = await this.redis.set(turn, this.self, { condition: 'NX', expiration: { type: 'PX', value: turnMs } });
    if (taken === null) return;
    const prolong = (ms: number) => prolongScript.run(this.redis, [turn], [this.self, String(ms)]).catch(() => undefined);
    const timer = setInterval(() => void prolong(turnMs), turnMs / 3);
    try {
      await this.reconciler.run({ stop: this.stopping.signal });
    } finally {
      clearInterval(timer);
      await prolong(Math.ceil(intervalMs / 2));
    }
  }
}
