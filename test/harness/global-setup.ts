/** Brings the real services once per run. Tests keep apart by task queue and key prefix, never by a server of their own. */

import type { TestProject } from 'vitest/node';
import { findOrBringRedis, findOrBringTemporal } from '../../tools/services.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port` */
    temporalAddress: string;
    redisUrl: string;
  }
}

export default async function bringServices(project: TestProject): Promise<() => Promise<void>> {
  const log = (line: string): void => console.log(`services | ${line}`);
  const [temporal, redis] = await Promise.all([findOrBringTemporal({ log }), findOrBringRedis({ log })]);
  project.provide('temporalAddress', temporal.address);
  project.provide('redisUrl', redis.address);
  return async () => {
    await Promise.all([temporal.stop(), redis.stop()]);
  };
}
