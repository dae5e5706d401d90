/**
 * Starts the example server: `node dist/examples/server/main.js --port 9000`.
 *
 * --port N                        default 0: a free one
 * --host ADDRESS                  default 127.0.0.1
 * EXAMPLE_TOKEN                   bearer token to demand
 * EXAMPLE_STATE_KEY_FILE          file with the key of `requestState`, made when missing; without it states die with the process
 * EXAMPLE_STATE_TTL_SECONDS       how long a `requestState` can be used, default 3 days
 */

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { startExampleServer } from './server.js';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, host: { type: 'string' } } });
const { EXAMPLE_TOKEN: token, EXAMPLE_STATE_KEY_FILE: keyFile, EXAMPLE_STATE_TTL_SECONDS: ttl } = process.env;

const server = await startExampleServer({
  port: Number(values.port),
  ...(values.host !== undefined && { host: values.host }),
  ...(token !== undefined && token !== '' && { token }),
  ...(ttl !== undefined && { stateTtlSeconds: Number(ttl) }),
  ...(keyFile !== undefined && { stateKey: await keyIn(keyFile) }),
});
console.log(JSON.stringify({ event: 'ready', url: server.url }));

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void server.close().then(() => process.exit(0)));
}

async function keyIn(file: string): Promise<Buffer> {
  await mkdir(dirname(file), { recursive: true });
  const fresh = randomBytes(32).toString('base64');
  await writeFile(file, fresh, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return Buffer.from(await readFile(file, 'utf8'), 'base64');
}
