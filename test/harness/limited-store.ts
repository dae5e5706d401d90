/** A user of the run's Valkey who may write everything of one Parley but records: its worker can show a question, and not finish the step. */

import { randomUUID } from 'node:crypto';
import { createClient } from 'redis';
import { inject } from 'vitest';

export interface LimitedStore {
  readonly url: string;
  close(): Promise<void>;
}

export async function recordsUnwritable(prefix: string): Promise<LimitedStore> {
  const redis = createClient({ url: inject('redisUrl') });
  await redis.connect();
  const user = `worker-${randomUUID()}`;
  const written = ['epoch', 'clock', 'ledger*', 'blob*', 'audit*', 'consent*', 'open-consents*', 'state*', 'hold-*'];
  const allButRecords = [...written.map((keys) => `~${prefix}:${keys}`), `%R~${prefix}:record*`];
  await redis.sendCommand(['ACL', 'SETUSER', user, 'on', '>secret', ...allButRecords, '&*', '+@all']);
  const url = new URL(inject('redisUrl'));
  url.username = user;
  url.password = 'secret';
  return {
    url: url.href,
    close: async () => {
      await redis.sendCommand(['ACL', 'DELUSER', user]);
      redis.destroy();
    },
  };
}
