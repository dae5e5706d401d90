/**
 * Acknowledgement by replicas: a write that only the primary holds is gone when a replica takes over. `WAITAOF` waits until it is in the
 * append-only files of the primary and of so many replicas.
 */

import type { Redis } from '../store/redis.js';

export interface ReplicaWaitOptions {
  /** How many replicas must have it in their append-only file. */
  readonly replicas: number;
  readonly timeoutMs: number;
}

export class ReplicaWait {
  constructor(private readonly options: ReplicaWaitOptions) {}

  /**
   * Of every write that went over this connection before.
   *
   * @returns false when not enough have confirmed in time: the write stands on the primary, and may be lost with it
   */
  async confirmed(redis: Redis): Promise<boolean> {
    const { replicas, timeoutMs } = this.options;
    const reply = await redis.sendCommand(['WAITAOF', '1', String(replicas), String(timeoutMs)]);
    const [local, remote] = reply as unknown as [number, number];
    return local >= 1 && remote >= replicas;
  }
}
