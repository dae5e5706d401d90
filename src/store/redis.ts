/**
 * The connection to Redis or Valkey (design §7).
 *
 * A command answers or rejects within five seconds; the connection comes back by itself, for ever. A command that was written and
 * got no reply may have run: it is never sent again here.
 */

import { createClient } from 'redis';

/** Long enough for a disk that stalls on `appendfsync always`, short enough for an HTTP request to wait for. */
const defaultTimeoutMs = 5_000;
const connectTimeoutMs = 3_000;
/** Finds a dead peer while nobody asks anything. */
const pingIntervalMs = 10_000;
const reconnectMaxMs = 1_000;

export type StoreFaultCode = 'unreachable' | 'no_reply' | 'not_durable' | 'config_unreadable';

/** The store cannot be used. `no_reply` does not say whether the command ran. */
export class StoreFault extends Error {
  constructor(
    readonly code: StoreFaultCode,
    message: string,
  ) {
    super(message);
    this.name = 'StoreFault';
  }
}

/** As much of a logger as a store needs; pino's fits. */
export interface StoreLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

function clientFor(url: string, timeoutMs: number) {
  return createClient({
    url,
    RESP: 3,
    pingInterval: pingIntervalMs,
    // A command that waits for the connection is dropped before its caller gives up: it must not run after that.
    commandOptions: { timeout: 0.9 * timeoutMs },
    maintNotifications: 'disabled',
    socket: {
      connectTimeout: connectTimeoutMs,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 5), reconnectMaxMs),
    },
  });
}
export type Redis = ReturnType<typeof clientFor>;

/**
 * @param timeoutMs for each command, and for the first connection
 * @throws {StoreFault} `unreachable` when the first connection does not come up in time; later losses are healed by reconnecting
 */
export async function connectRedis(url: string, log: StoreLog, timeoutMs = defaultTimeoutMs): Promise<Redis> {
  const redis = withDeadlines(clientFor(url, timeoutMs), timeoutMs);
  let isLost = false;
  redis.on('error', (error: Error) => {
    if (!isLost) log.warn({ event: 'store_lost', reason: error.message }, 'the store is not reachable');
    isLost = true;
  });
  redis.on('ready', () => {
    if (isLost) log.info({ event: 'store_back' }, 'the store is reachable');
    isLost = false;
  });
  try {
    await within(redis.connect(), 'unreachable', timeoutMs);
  } catch (error) {
    redis.destroy();
    throw error;
  }
  return redis;
}

/** A second connection with the same settings, for pub/sub; connected. */
export async function duplicateRedis(redis: Redis): Promise<Redis> {
  const second = withDeadlines(redis.duplicate(), defaultTimeoutMs);
  second.on('error', () => undefined); // the first connection already says that the store is away
  try {
    await within(second.connect(), 'unreachable', defaultTimeoutMs);
  } catch (error) {
    second.destroy();
    throw error;
  }
  return second;
}

/** Bounds a wait for the store. */
export async function within<T>(
  reply: Promise<T>,
  code: 'unreachable' | 'no_reply' = 'no_reply',
  timeoutMs = defaultTimeoutMs,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = code === 'no_reply' ? `the store did not reply within ${timeoutMs} ms` : 'the store is not reachable';
    timer = setTimeout(() => reject(new StoreFault(code, message)), timeoutMs);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The client's own command timeout ends when a command is written, and its socket timeout is reset by every write: neither notices a
 * server that accepts commands and says nothing. The commands call `sendCommand` of the object behind the one that is handed out.
 */
function withDeadlines(redis: Redis, timeoutMs: number): Redis {
  // Not its prototype: that is the object behind only of what `createClient` returns, and for a duplicate the class of every client.
  const { _self: behind } = redis as unknown as { _self: { sendCommand(...args: unknown[]): Promise<unknown> } };
  const send = behind.sendCommand.bind(behind);
  behind.sendCommand = (...args) => within(send(...args), 'no_reply', timeoutMs);
  return redis;
}
