import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort, KeptPorts } from './ports.js';

let dir: string;
let file: string;
let holder: Server | undefined;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-ports-'));
  file = join(dir, 'ports.json');
});
afterEach(async () => {
  holder?.close();
  holder = undefined;
  await rm(dir, { recursive: true });
});

async function hold(port: number): Promise<void> {
  holder = createServer();
  await new Promise<void>((listening) => holder!.listen(port, '127.0.0.1', listening));
}

describe('KeptPorts', () => {
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);

  it('keeps the port of the last run, without being asked again', async () => {
    const port = await freePort();
    await (await KeptPorts.in(file, { example: port }, log)).of('example');
    expect(await (await KeptPorts.in(file, {}, log)).of('example')).toBe(port);
  });

  it('says when the port of the last run is taken, and takes another', async () => {
    const port = await freePort();
    await (await KeptPorts.in(file, { example: port }, log)).of('example');
    await hold(port);
    expect(await (await KeptPorts.in(file, {}, log)).of('example')).not.toBe(port);
    expect(lines.at(-1)).toContain(`port ${port} of the last run`);
  });

  it('never takes another port than the one that was asked for', async () => {
    const port = await freePort();
    await hold(port);
    await expect((await KeptPorts.in(file, { api: port }, log)).of('api')).rejects.toThrow(`port ${port} for api is taken`);
  });
});
