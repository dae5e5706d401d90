/**
 * Idempotency-Key (design §9): the first POST under a key decides what the key means. A repeat with the same body goes on under the
 * first one's ids, also when the first died half way, and gets its reply once there is one; another body is a mismatch.
 */

import { createHash } from 'node:crypto';
import type { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import { Script } from '../store/script.js';

export interface IdempotencyScope {
  readonly tenant: string;
  readonly actor: string;
  /** Name of the act, with the id of what it is done to, if there is one: the same key for another act is another key. */
  readonly route: string;
  /** As the caller chose it. */
  readonly key: string;
}

export type Reservation =
  | { readonly is: 'fresh' }
  | {
      readonly is: 'again';
      /** What the first request reserved. */
      readonly kept: Record<string, string>;
      /** What the first request answered, as given to `complete`; absent while it is at work, or if it died. */
      readonly reply?: string;
    }
  | { readonly is: 'mismatch' };

/** How long a key is remembered, counted from its first use. */
export const rememberedMs = 7 * 24 * 60 * 60_000;

/** KEYS entry. ARGV fingerprint, kept, ttl. */
const reserveScript = new Script(`
local found = redis.call('HMGET', KEYS[1], 'fingerprint', 'kept', 'reply')
if found[1] then return found end
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'kept', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {}
`);

/** KEYS entry. ARGV reply. The first reply stands; an entry whose time is over is not made again. */
const completeScript = new Script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HSETNX', KEYS[1], 'reply', ARGV[1])
`);

export class Idempotency {
  private readonly ttlMs: number;

  /** @param options.ttlMs how long a key is remembered, counted from its first use; a week by default */
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    options: { readonly ttlMs?: number } = {},
  ) {
    this.ttlMs = options.ttlMs ?? rememberedMs;
  }

  /**
   * @param bodyFingerprint keyed: the store must not tell one guessed body from another
   * @param fresh ids this request would use; only the first request's count
   * @param isSame compares with the first fingerprint; for fingerprints that also change when a key rotates, give `sameFingerprint`
   */
  async reserve(
    scope: IdempotencyScope,
    bodyFingerprint: string,
    fresh: Record<string, string>,
    isSame: (first: string) => boolean = (first) => first === bodyFingerprint,
  ): Promise<Reservation> {
    const args = [bodyFingerprint, JSON.stringify(fresh), String(this.ttlMs)];
    const found = (await reserveScript.run(this.redis, [this.entry(scope)], args)) as (string | null)[];
    const [fingerprint, kept, reply] = found;
    if (typeof fingerprint !== 'string' || typeof kept !== 'string') return { is: 'fresh' };
    if (!isSame(fingerprint)) return { is: 'mismatch' };
    const again = { is: 'again' as const, kept: JSON.parse(kept) as Record<string, string> };
    return typeof reply === 'string' ? { ...again, reply } : again;
  }

  /** @returns whether the key was seen before, with whatever body */
  async isKnown(scope: IdempotencyScope): Promise<boolean> {
    return (await this.redis.exists(this.entry(scope))) === 1;
  }

  /** @returns what is kept under a key, without reserving it */
  async find(scope: IdempotencyScope): Promise<{ fingerprint: string; kept: Record<string, string>; reply: string } | null> {
    const { fingerprint, kept, reply } = await this.redis.hGetAll(this.entry(scope));
    if (fingerprint === undefined || kept === undefined || reply === undefined) return null;
    return { fingerprint, kept: JSON.parse(kept) as Record<string, string>, reply };
  }

  /** @param reply sealed by the caller, who alone can read it again */
  async complete(scope: IdempotencyScope, reply: string): Promise<void> {
    await completeScript.run(this.redis, [this.entry(scope)], [reply]);
  }

  private entry({ tenant, actor, route, key }: IdempotencyScope): string {
    // A digest: the caller's key is any text of any meaning, and has no place in a key name.
    const digest = createHash('sha256')
      .update(JSON.stringify([route, key]), 'utf8')
      .digest('hex');
    return this.keys.idempotency(tenant, actor, digest);
  }
}
