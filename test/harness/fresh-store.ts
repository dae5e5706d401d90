/** A corner of the run's real Valkey for one spec file: a key prefix of its own. */

import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { Keys } from '../../src/store/keys.js';
import { connectRedis, type Redis, type StoreLog } from '../../src/store/redis.js';

export interface FreshStore {
  readonly redis: Redis;
  readonly keys: Keys;
  /** Every key written under this prefix: to look into, or to lose. */
  written(): Promise<string[]>;
  /** As if the store had been wiped: everything under the prefix is gone. */
  wipe(): Promise<void>;
  close(): void;
}

export const silentLog: StoreLog = { info: () => undefined, warn: () => undefined };

export async function freshStore(url: string = inject('redisUrl')): Promise<FreshStore> {
  const redis = await connectRedis(url, silentLog);
  const prefix = `spec-${randomUUID()}`;
  const written = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const names of redis.scanIterator({ MATCH: `${prefix}:*`, COUNT: 1_000 })) found.push(...names);
    return found;
  };
  const wipe = async (): Promise<void> => {
    const names = await written();
    if (names.length > 0) await redis.del(names);
  };
  return { redis, keys: new Keys(prefix), written, wipe, close: () => redis.destroy() };
}
