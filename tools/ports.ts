/** Loopback ports for the development services. */

import { createServer, type AddressInfo } from 'node:net';

/** A port that was free a moment ago; who uses it must be ready to lose the race and ask again. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === undefined) throw new Error('no free port on 127.0.0.1');
  return port;
}

/** `wanted` when it is free, otherwise any free port. */
export async function portNear(wanted: number): Promise<number> {
  return (await tryPort(wanted)) ?? (await freePort());
}

async function tryPort(port: number): Promise<number | undefined> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const { port: bound } = server.address() as AddressInfo;
      server.close(() => resolve(bound));
    });
  });
}
