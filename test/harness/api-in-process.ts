/** The API inside the test's own process, on the run's real services: for specs of routes, where no process is to be killed. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { stringify } from 'yaml';
import { inject } from 'vitest';
import { createApi } from '../../src/api.js';
import { Config } from '../../src/config/config.js';
import { openLog } from '../../src/log/log.js';
import { DevSecrets } from '../../tools/dev-secrets.js';
import { devToken, type TokenWish } from '../../tools/dev-token.js';

export interface ApiInProcess {
  readonly app: NestExpressApplication;
  readonly url: string;
  readonly secrets: DevSecrets;
  token(wish?: Partial<TokenWish>): Promise<string>;
  /** With a token that has every usual scope, unless `init` brings an Authorization header of its own. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

export interface ApiOptions {
  readonly servers?: readonly object[];
  readonly env?: Readonly<Record<string, string>>;
}

export async function startApiInProcess({ servers = [], env = {} }: ApiOptions = {}): Promise<ApiInProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-api-'));
  const secrets = await DevSecrets.in(join(dir, 'secrets'));
  await writeFile(join(dir, 'servers.yaml'), stringify({ servers }));
  const config = Config.read('api', {
    PARLEY_ENV: 'development',
    PARLEY_HTTP_PORT: '0',
    PARLEY_LOG_LEVEL: 'silent',
    PARLEY_SERVERS: join(dir, 'servers.yaml'),
    PARLEY_REDIS_PREFIX: `test-${randomUUID()}`,
    PARLEY_TASK_QUEUE: `test-${randomUUID()}`,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    REDIS_URL: inject('redisUrl'),
    ...secrets.environment(),
    ...env,
  });
  const app = await createApi(config, openLog(config));
  await app.listen(0, '127.0.0.1');
  const url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  const token = (wish: Partial<TokenWish> = {}) => devToken(secrets, { tenant: 't1', sub: 'user-1', ...wish });
  const usual = await token();
  return {
    app,
    url,
    secrets,
    token,
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers);
      if (!headers.has('authorization')) headers.set('authorization', `Bearer ${usual}`);
      return fetch(url + path, { ...init, headers });
    },
    close: async () => {
      await app.close();
      await rm(dir, { recursive: true });
    },
  };
}
