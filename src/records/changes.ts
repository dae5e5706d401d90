/**
 * Waiting for the projection of an invocation to change. A hint, not a feed: a follower re-reads the record, so a lost message costs
 * time and never truth. One connection per process, one subscription per invocation, shared by everyone who follows it.
 */

import type { Keys } from '../store/keys.js';
import { duplicateRedis, within, type Redis } from '../store/redis.js';

export interface Following {
  /**
   * @param timeoutMs how long to wait at most
   * @returns true when something changed since the last call (or since `follow`), false when the time is over or the follower closed
   */
  next(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

interface Topic {
  readonly followers: Set<Bell>;
  readonly listener: () => void;
  /** Settled when the store confirmed the subscription: the connection it is on. */
  readonly subscribed: Promise<Redis>;
}

export class Changes {
  private readonly topics = new Map<string, Topic>();
  private connection: Promise<Redis> | undefined;

  /** @param redis any connection: a second one is made from it on first use */
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** Every change after the returned promise has settled is noticed: follow first, then read, then wait. */
  async follow(tenant: string, invocation: string): Promise<Following> {
    const channel = this.keys.changes(tenant, invocation);
    const bell = new Bell();
    const topic = this.topics.get(channel) ?? this.open(channel);
    topic.followers.add(bell);
    try {
      await within(topic.subscribed);
    } catch (error) {
      this.leave(channel, topic, bell);
      throw error;
    }
    return { next: (timeoutMs) => bell.next(timeoutMs), close: async () => this.leave(channel, topic, bell) };
  }

  async close(): Promise<void> {
    for (const topic of this.topics.values()) for (const bell of topic.followers) bell.silence();
    this.topics.clear();
    const connection = this.connection;
    this.connection = undefined;
    (await connection?.catch(() => undefined))?.destroy();
  }

  private open(channel: string): Topic {
    const followers = new Set<Bell>();
    const listener = () => followers.forEach((bell) => bell.ring());
    const subscribed = this.subscribe(channel, listener);
    const topic = { followers, listener, subscribed };
    subscribed.catch(() => this.forget(channel, topic));
    this.topics.set(channel, topic);
    return topic;
  }

  private leave(channel: string, topic: Topic, bell: Bell): void {
    bell.silence();
    topic.followers.delete(bell);
    if (topic.followers.size > 0 || !this.forget(channel, topic)) return;
    // By listener: a new topic may have subscribed to the same channel meanwhile. Nobody waits for it: the store may be away.
    topic.subscribed.then((redis) => redis.unsubscribe(channel, topic.listener)).catch(() => undefined);
  }

  private forget(channel: string, topic: Topic): boolean {
    return this.topics.get(channel) === topic && this.topics.delete(channel);
  }

  private async subscribe(channel: string, listener: () => void): Promise<Redis> {
    const redis = await this.connected();
    await redis.subscribe(channel, listener);
    return redis;
  }

  private connected(): Promise<Redis> {
    this.connection ??= this.connect();
    return this.connection;
  }

  private async connect(): Promise<Redis> {
    try {
      const redis = await duplicateRedis(this.redis);
      // Messages published while the connection was away are lost: everyone looks again.
      redis.on('ready', () => this.topics.forEach((topic) => topic.listener()));
      return redis;
    } catch (error) {
      this.connection = undefined;
      throw error;
    }
  }
}

/** Remembers one ring until somebody waits for it. */
class Bell {
  private hasRung = false;
  private isSilent = false;
  private wake: (() => void) | undefined;

  ring(): void {
    this.hasRung = true;
    this.wake?.();
  }

  silence(): void {
    this.isSilent = true;
    this.wake?.();
  }

  async next(timeoutMs: number): Promise<boolean> {
    if (!this.hasRung && !this.isSilent) await this.rung(timeoutMs);
    const changed = this.hasRung && !this.isSilent;
    this.hasRung = false;
    return changed;
  }

  private rung(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.wake = done;
    });
  }
}
