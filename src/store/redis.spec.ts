import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { silentLog } from '../../test/harness/fresh-store.js';
import { TcpGate } from '../../test/harness/tcp-gate.js';
import { connectRedis, type Redis } from './redis.js';

/** Shorter than in service, so that no test waits for five seconds. */
const timeoutMs = 800;
const name = `spec-${randomUUID()}`;
let gate: TcpGate;
let direct: Redis;
let redis: Redis | undefined;

beforeAll(async () => {
  direct = await connectRedis(inject('redisUrl'), silentLog);
});
afterAll(() => direct.destroy());
afterEach(async () => {
  redis?.destroy();
  await gate.shut();
});

async function throughGate(log = silentLog): Promise<Redis> {
  gate = await new TcpGate(new URL(inject('redisUrl'))).open();
  redis = await connectRedis(gate.url, log, timeoutMs);
  return redis;
}

/** What a promise comes to, and how long it took. */
async function timed(promise: Promise<unknown>): Promise<{ fault: unknown; ms: number }> {
  const from = performance.now();
  const fault = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { fault, ms: performance.now() - from };
}

describe('connectRedis', () => {
  it('gives up when nobody listens (unreachable)', async () => {
    gate = await new TcpGate(new URL(inject('redisUrl'))).open();
    await gate.shut();
    const { fault, ms } = await timed(connectRedis(gate.url, silentLog, timeoutMs));
    expect(fault).toMatchObject({ code: 'unreachable' });
    expect(ms).toBeLessThan(2 * timeoutMs);
  });

  it('rejects a command within its time while the store is away, and works again when it is back', async () => {
    const store = await throughGate();
    await gate.shut();
    const { fault, ms } = await timed(store.set(name, 'lost'));
    expect(fault).toBeInstanceOf(Error);
    expect(ms).toBeLessThan(2 * timeoutMs);
    await gate.open();
    await expect.poll(() => store.isReady, { timeout: 5_000 }).toBe(true);
    await store.set(name, 'kept');
    expect(await direct.get(name)).toBe('kept');
  });

  it('rejects a command whose reply never comes (no_reply), also while others keep the connection busy', async () => {
    const store = await throughGate();
    gate.mute();
    const busy = setInterval(() => void store.ping().catch(() => undefined), 50);
    const { fault, ms } = await timed(store.get(name));
    clearInterval(busy);
    expect(fault).toMatchObject({ code: 'no_reply' });
    expect(ms).toBeLessThan(2 * timeoutMs);
  });

  it('never sends a command again whose reply was lost', async () => {
    const store = await throughGate();
    await direct.del(name);
    gate.mute();
    const fault = store.incr(name).catch((error: unknown) => error);
    await expect.poll(() => direct.get(name)).toBe('1');
    gate.cut();
    expect(await fault).toBeInstanceOf(Error);
    await gate.shut();
    await gate.open();
    await expect.poll(() => store.isReady, { timeout: 5_000 }).toBe(true);
    expect(await store.get(name)).toBe('1');
  });

  it('says once that the store is lost and once that it is back', async () => {
    const said: string[] = [];
    const log = {
      info: (_: object, message: string) => said.push(message),
      warn: (_: object, message: string) => said.push(message),
    };
    const store = await throughGate(log);
    await gate.shut();
    await expect.poll(() => said).toHaveLength(1);
    await gate.open();
    await expect.poll(() => store.isReady, { timeout: 5_000 }).toBe(true);
    expect(said).toEqual(['the store is not reachable', 'the store is reachable']);
  });
});
