import { readFileSync } from 'node:fs';
import { createClient } from 'redis';
import ts from 'typescript';
import { Connection } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { Child } from './child.js';
import { findOrBringRedis, findOrBringTemporal, ServiceFault } from './services.js';
import { searchAttributes } from './temporal-server.js';

describe('the services of a test run', () => {
  it('keeps every write of Redis on disk and evicts nothing', async () => {
    const redis = createClient({ url: inject('redisUrl') });
    await redis.connect();
    const config = await redis.configGet(['appendonly', 'appendfsync', 'maxmemory-policy']);
    redis.destroy();
    expect({ ...config }).toEqual({ appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' });
  });

  it('registers every search attribute', async () => {
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
    await connection.close();
    expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(searchAttributes)));
  });
});

describe('findOrBring', () => {
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);

  it('uses a Redis that was named, and does not stop it', async () => {
    const url = inject('redisUrl');
    const service = await findOrBringRedis({ log, address: url });
    await service.stop();
    await expect(findOrBringRedis({ log, address: url })).resolves.toMatchObject({ address: url });
  });

  it('uses a Temporal that was named', async () => {
    const address = inject('temporalAddress');
    await expect(findOrBringTemporal({ log, address })).resolves.toMatchObject({ address });
  });

  it('never puts another Redis in the place of one that was named, and tells no password', async () => {
    const failure = findOrBringRedis({ log, address: 'redis://u:hunter2@127.0.0.1:1' });
    await expect(failure).rejects.toThrow(ServiceFault);
    await expect(failure).rejects.not.toThrow(/hunter2/);
  });
});

describe('Child', () => {
  it('ends with its parent even when the parent is killed', async () => {
    const childModule = ts.transpile(readFileSync(new URL('./child.ts', import.meta.url), 'utf8'), {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
    });
    const script = `${childModule}
      console.log('pid ' + new Child({ name: 'c', command: 'sleep', args: ['600'] }).pid); setInterval(() => {}, 1000);`;
    const parent = new Child({ name: 'parent', command: process.execPath, args: ['--input-type=module', '-e', script] });
    const pid = await parent.firstLine((line) => /^pid (\d+)$/.exec(line)?.[1], 10_000).then(Number);
    expect(isAlive(pid)).toBe(true);
    await parent.kill();
    await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false);
  });

  it('says the last words of a program that ends before it is ready', async () => {
    const child = new Child({ name: 'short', command: 'sh', args: ['-c', 'echo no luck; exit 3'] });
    await expect(child.firstLine((line) => (line === 'ready' ? line : undefined), 5_000)).rejects.toThrow(
      /exit code 3[^]*no luck/,
    );
  });

  it('kills a program that does not stop in its grace time', async () => {
    const child = new Child({ name: 'deaf', command: 'sh', args: ['-c', 'trap "" TERM; echo up; while :; do sleep 0.1; done'] });
    await child.firstLine((line) => (line === 'up' ? line : undefined), 5_000);
    expect(await child.stop(200)).toEqual({ code: null, signal: 'SIGKILL' });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
