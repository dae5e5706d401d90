import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../test/harness/fresh-store.js';
import { findOrBringRedis, type Service } from '../../tools/services.js';
import { assertDurable } from './durability.js';
import { connectRedis, type Redis } from './redis.js';

// A server of its own: these tests change its settings.
let service: Service;
let redis: Redis;

beforeAll(async () => {
  delete process.env['REDIS_URL'];
  service = await findOrBringRedis({ log: () => undefined });
  redis = await connectRedis(service.address, silentLog);
});
afterAll(async () => {
  redis.destroy();
  await service.stop();
});
beforeEach(async () => {
  await redis.configSet({ appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' });
});

const production = { development: false, log: silentLog };

describe('assertDurable', () => {
  it('accepts a store that keeps what it answered', async () => {
    await expect(assertDurable(redis, production)).resolves.toBeUndefined();
  });

  it.each([
    ['appendonly', 'no', 'CONFIG SET appendonly yes'],
    ['appendfsync', 'everysec', 'CONFIG SET appendfsync always'],
    ['maxmemory-policy', 'allkeys-lru', 'CONFIG SET maxmemory-policy noeviction'],
  ])('refuses %s %s and says the line that mends it (not_durable)', async (setting, value, line) => {
    await redis.configSet(setting, value);
    const refusal = { code: 'not_durable', message: expect.stringContaining(`: ${line}.`) as string };
    await expect(assertDurable(redis, production)).rejects.toMatchObject(refusal);
  });

  it('names every line at once', async () => {
    await redis.configSet({ appendfsync: 'no', 'maxmemory-policy': 'allkeys-lru' });
    const lines = 'CONFIG SET appendfsync always; CONFIG SET maxmemory-policy noeviction';
    await expect(assertDurable(redis, production)).rejects.toThrow(lines);
  });

  it('warns in development, and goes on', async () => {
    await redis.configSet('appendfsync', 'everysec');
    const said: string[] = [];
    const log = { info: () => undefined, warn: (_: object, message: string) => said.push(message) };
    await assertDurable(redis, { development: true, log });
    expect(said).toEqual([expect.stringContaining('CONFIG SET appendfsync always')]);
  });

  it('refuses a store that does not show its settings (config_unreadable)', async () => {
    await redis.sendCommand(['ACL', 'SETUSER', 'limited', 'on', '>word', '~*', '&*', '+@all', '-config']);
    const limited = await connectRedis(service.address.replace('//', '//limited:word@'), silentLog);
    try {
      await expect(assertDurable(limited, production)).rejects.toMatchObject({ code: 'config_unreadable' });
    } finally {
      limited.destroy();
    }
  });
});
