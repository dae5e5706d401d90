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
  /** @param redis a connection of its own, which it closes: whatever else goes over it waits as well */
  constructor(
    private readonly redis: Redis,
    private readonly options: ReplicaWaitOptions,
  ) {}

  close(): void {
    this.redis.destroy();
  }

  /**
   * Of a leg that is begun.
   *
   * @param key the hash of its call
   * @returns false when not enough have confirmed in time, or the row is not there: nothing may be sent on its word
   */
  async confirmed(key: string, leg: number, token: string): Promise<boolean> {
    const { replicas, timeoutMs } = this.options;
    // What is confirmed is the last write of this very connection, which has not begun the leg and may lead to another server: so it writes,
    // and looks, in the same breath.
    const [, begunBy, reply] = await Promise.all([
      this.redis.hSet(key, `${leg}.confirmed`, token),
      this.redis.hGet(key, `${leg}.token`),
      this.redis.sendCommand(['WAITAOF', '1', String(replicas), String(timeoutMs)]),
    ]);
    const [local, remote] = reply as unknown as [number, number];
    return begunBy === token && local >= 1 && remote >= replicas;
  }
}
