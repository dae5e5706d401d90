/** Straight to the store of a rig, past the relay. */

import { createClient } from 'redis';

export async function withRedis<T>(url: string, act: (redis: ReturnType<typeof client>) => Promise<T>): Promise<T> {
  const redis = client(url);
  redis.on('error', () => {});
  await redis.connect();
  try {
    return await act(redis);
  } finally {
    redis.destroy();
  }
}

function client(url: string) {
  return createClient({ url, socket: { reconnectStrategy: false } });
}
