import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { root } from '../../tools/root.js';
import { until } from '../../tools/until.js';
import type { ServerProgram } from './server-program.js';
import type { StdioConnection } from './stdio-connection.js';
import { StdioConnections } from './stdio-connections.js';

const script = join(root, 'test/harness/hostile-stdio.mjs');
const logged: object[] = [];
const open: StdioConnections[] = [];

function connections(): StdioConnections {
  const log = { info: (fields: object) => void logged.push(fields) };
  const made = new StdioConnections({ queue: 'q', leaseMs: 1_000, onDescribed: () => undefined, log });
  open.push(made);
  return made;
}

function hostile(behaviour: string, more: Partial<ServerProgram> = {}, file?: string): ServerProgram {
  const args = [script, behaviour, ...(file === undefined ? [] : [file])];
  return { id: 'hostile', key: 'k', command: process.execPath, args, env: {}, maxResultBytes: 100_000, ...more };
}

function leg(connection: StdioConnection, wireId = 'inv_1.1', deadlineMs = 20_000) {
  const params = { name: 'go', arguments: {} };
  const capabilities = { elicitation: { form: {} } };
  return connection.send({ wireId, method: 'tools/call', params, capabilities, deadlineMs, maxBytes: 100_000 });
}

const saying = (text: string) => ({ is: 'answered', result: { content: [{ type: 'text', text }] } });

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
  logged.splice(0);
});

async function opened(behaviour: string, more: Partial<ServerProgram> = {}): Promise<StdioConnection> {
  const connection = connections().open(hostile(behaviour, more));
  await connection.describe(0);
  return connection;
}

describe('a process of a stdio server', () => {
  it.each([
    ['prints garbage', 'fine'],
    ['answers foreign ids', 'own'],
    ['asks of its own accord', 'fine'],
  ])('takes the answer of a program that %s', async (behaviour, text) => {
    const connection = await opened(behaviour);
    expect(await leg(connection)).toMatchObject(saying(text));
    // What came beside it does not stand in the way of the next leg.
    expect(await leg(connection, 'inv_1.2')).toMatchObject(saying(text));
    expect(connection.isOpen).toBe(true);
  });

  it.each([
    ['prints without a newline', 'output_too_large'],
    ['answers in more values than can be held', 'output_too_large'],
    ['prints garbage without end', 'output_invalid'],
    ['notifies without end', 'output_invalid'],
    ['ends on the wire', 'process_ended'],
  ])('ends a program that %s, and its leg is unknown', async (behaviour, why) => {
    const connection = await opened(behaviour);
    expect(await leg(connection)).toEqual({ is: 'unknown', reason: 'connection_lost' });
    expect(await connection.ended).toBe(why);
    await connection.gone;
    expect(connection.isOpen).toBe(false);
    expect(await leg(connection, 'inv_1.2')).toEqual({ is: 'never_sent', proof: 'connection_lost' });
  });

  it.each(['answers in a giant line', 'answers in many values'])(
    '%s: is not taken, and the process goes on',
    async (behaviour) => {
      const connection = await opened(behaviour);
      expect(await leg(connection)).toEqual({ is: 'unknown', reason: 'response_too_large' });
      expect(connection.isOpen).toBe(true);
    },
  );

  it('waits for the own id until the deadline', async () => {
    const connection = await opened('answers foreign ids alone');
    expect(await leg(connection, 'inv_1.1', 300)).toEqual({ is: 'unknown', reason: 'deadline' });
    expect(connection.isOpen).toBe(true);
  });

  it('gives the program its own environment and nothing of this one', async () => {
    const connection = await opened('names its environment', { env: { WORD: 'given' } });
    const outcome = (await leg(connection)) as unknown as { result: { content: { text: string }[] } };
    const names = Object.entries(JSON.parse(outcome.result.content[0]?.text ?? '{}'));
    // A shell adds these to what it runs.
    expect(names.filter(([name]) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))).toEqual([['WORD', 'given']]);
  });

  it.each([
    ['ends at once', hostile('exits at once')],
    ['is not there', hostile('', { command: '/does/not/exist' })],
    ['has no folder', hostile('', { cwd: '/does/not/exist' })],
    ['says nothing of MCP', hostile('', { command: '/bin/echo', args: ['hello'] })],
  ])('cannot be had of a program that %s', async (_what, program) => {
    const connection = connections().open(program);
    await expect(connection.describe(0)).rejects.toMatchObject({ name: 'CatalogFault', code: 'unreachable' });
    await connection.gone;
    expect(connection.isOpen).toBe(false);
  });

  it('ends a program that takes no hint, and what it has started', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-stdio-'));
    try {
      const file = join(dir, 'pids');
      const live = connections();
      const connection = live.open(hostile('outlives its worker', {}, file));
      await connection.describe(0);
      const pids = await until(async () => {
        const lines = (await readFile(file, 'utf8')).trim().split('\n').map(Number);
        return lines.length === 2 ? lines : undefined;
      });
      expect(pids.map(isRunning)).toEqual([true, true]);
      await live.close();
      await until(() => (pids.some(isRunning) ? undefined : true));
      expect(logged).toContainEqual(expect.objectContaining({ event: 'connection_lost', why: 'stopped', signal: 'SIGKILL' }));
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});

/** A process that has ended and was not collected by its parent yet does not run either. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
