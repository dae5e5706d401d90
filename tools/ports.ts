/** Loopback ports for the development services. */

import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';

const usual = { temporal: 7233, ui: 8233, redis: 6379, api: 8080, worker: 8081, codec: 8082, example: 7400 } as const;
export type PortName = keyof typeof usual;
export const portNames = Object.keys(usual) as PortName[];

export interface Ports {
  of(name: PortName): Promise<number>;
}

/** Any free port for everything: for runs that leave nothing behind. */
export const anyPorts: Ports = { of: () => freePort() };

/**
 * Ports that stay the same from run to run: the one that was asked for, the one of the last run, the usual one, any free one. The
 * example server's matters most: its URL is part of the binding of every call that is parked on it (design §4).
 */
export class KeptPorts implements Ports {
  private constructor(
    private readonly file: string,
    private readonly wanted: Partial<Record<PortName, number>>,
    private readonly known: Partial<Record<PortName, number>>,
    private readonly log: (line: string) => void,
  ) {}

  static async in(file: string, wanted: Partial<Record<PortName, number>>, log: (line: string) => void): Promise<KeptPorts> {
    const known = await readFile(file, 'utf8').then(
      (text) => JSON.parse(text) as Partial<Record<PortName, number>>,
      () => ({}),
    );
    return new KeptPorts(file, wanted, known, log);
  }

  /** @throws {Error} when a port that was asked for is taken */
  async of(name: PortName): Promise<number> {
    const port = await this.choose(name);
    const before = this.known[name];
    if (before !== undefined && before !== port) this.log(`${name}: port ${before} of the last run is not used; now ${port}`);
    this.known[name] = port;
    await writeFile(this.file, JSON.stringify(this.known));
    return port;
  }

  private async choose(name: PortName): Promise<number> {
    const wanted = this.wanted[name];
    if (wanted !== undefined) {
      if ((await tryPort(wanted)) === undefined) throw new Error(`port ${wanted} for ${name} is taken`);
      return wanted;
    }
    for (const port of [this.known[name], usual[name]]) {
      if (port !== undefined && (await tryPort(port)) !== undefined) return port;
    }
    return await freePort();
  }
}

/** A port that was free a moment ago; who uses it must be ready to lose the race and ask again. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === undefined) throw new Error('no free port on 127.0.0.1');
  return port;
}

/** @returns the port that could be bound, 0 standing for any */
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
