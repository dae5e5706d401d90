import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../tools/until.js';
import type { InvocationId } from '../../domain/ids.js';
import { root } from '../../tools/root.js';
import { LiveConnections } from './live-connections.js';
import type { LiveConnection } from './live-connection.js';
import type { ServerProgram } from './server-program.js';

const call = (invocation: string, tenant = 't1') => ({ invocation: invocation as InvocationId, tenant });
const script = join(root, 'test/harness/hostile-stdio.mjs');
const logged: object[] = [];
const open: LiveConnections[] = [];

function connections(maxParked = 10): LiveConnections {
  const log = { info: (fields: object) => void logged.push(fields) };
  const made = new LiveConnections({ queue: 'q', leaseMs: 1_000, maxParked, onDescribed: () => undefined, log });
  open.push(made);
  return made;
}

function hostile(behaviour: string, more: Partial<ServerProgram> = {}, file?: string): ServerProgram {
  const args = [script, behaviour, ...(file === undefined ? [] : [file])];
  return { id: 'hostile', key: 'k', command: process.execPath, args, env: {}, maxResultBytes: 100_000, ...more };
}

function leg(connection: LiveConnection, wireId = 'inv_1.1', deadlineMs = 20_000) {
  const params = { name: 'go', arguments: {} };
  const capabilities = { elicitation: { form: {} } };
  return connection.send({ wireId, method: 'tools/call', params, capabilities, deadlineMs, maxBytes: 100_000 });
}

const saying = (text: string) => ({ is: 'answered', result: { content: [{ type: 'text', text }] } });

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
  logged.splice(0);
});

async function opened(behaviour: string, more: Partial<ServerProgram> = {}): Promise<LiveConnection> {
  const connection = connections().forLeg(call('inv_1')).open(hostile(behaviour, more));
  await connection.describe(0);
  return connection;
}

describe('a live connection', () => {
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
    const connection = connections().forLeg(call('inv_1')).open(program);
    await expect(connection.describe(0)).rejects.toMatchObject({ name: 'CatalogFault', code: 'unreachable' });
    await connection.gone;
    expect(connection.isOpen).toBe(false);
  });

  it('ends a program that takes no hint, and what it has started', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-stdio-'));
    try {
      const file = join(dir, 'pids');
      const live = connections();
      const connection = live.forLeg(call('inv_1')).open(hostile('outlives its worker', {}, file));
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

describe('live connections', () => {
  it('share one process, and start another only a while after it has ended', async () => {
    const live = connections();
    const program = hostile('prints garbage');
    const open = () => live.forLeg(call('inv_1')).open(program);
    const find = () => live.forLeg(call('inv_1')).find(program.key, first.generation);
    const first = open();
    expect(open()).toBe(first);
    expect(find()).toBe(first);
    expect(live.forLeg(call('inv_1')).find('other', first.generation)).toBeUndefined();
    first.stop();
    await first.gone;
    expect(find()).toBeUndefined();
    const second = await until(async () => {
      try {
        return open();
      } catch {
        return undefined;
      }
    });
    expect(second.generation).not.toBe(first.generation);
    expect(find()).toBeUndefined();
  });

  it('do not start a program again as fast as it ends', async () => {
    const leg = connections().forLeg(call('inv_1'));
    const first = leg.open(hostile('exits at once'));
    first.stop();
    expect(() => leg.open(hostile('exits at once'))).toThrow('not started again yet');
  });

  it('are held until the process ends, the watch is called off, or the worker stops', async () => {
    const live = connections();
    const leg = live.forLeg(call('inv_1'));
    const connection = leg.open(hostile('prints garbage'));
    const never = new AbortController();
    const calledOff = new AbortController();
    const ends: string[] = [];
    const hold = (name: string, signal: AbortSignal) => live.whileOpen(connection.generation, signal).then(() => ends.push(name));
    const holds = [hold('called off', calledOff.signal), hold('process', never.signal)];
    calledOff.abort();
    await holds[0];
    expect(ends).toEqual(['called off']);
    connection.stop();
    await Promise.all(holds);
    await hold('gone before', never.signal);
    expect(ends).toEqual(['called off', 'process', 'gone before']);
    live.release();
    expect(() => leg.open(hostile('prints garbage'))).toThrow('the worker is stopping');
  });

  it('let in no more calls than they can watch over, and of one tenant half of them', async () => {
    const live = connections(4);
    const program = hostile('prints garbage');
    const open = (id: string, tenant?: string) => {
      const leg = live.forLeg(call(id, tenant));
      const { generation } = leg.open(program);
      return { generation, begin: () => leg.begin(), end: (isOver: boolean) => leg.end(isOver) };
    };
    const a = open('a');
    const b = open('b');
    // A call is let in once, however often its first leg is dispatched.
    const again = open('b');
    expect(() => open('c')).toThrow('too many calls live on this worker');
    open('c', 't2');
    open('d', 't2').begin();
    expect(() => open('e', 't3')).toThrow('too many calls live on this worker');

    // Parked, watched from now on, and called off again: the place waits for a leg, and for no longer than the lease.
    a.begin();
    a.end(false);
    const off = new AbortController();
    const held = live.whileOpen(a.generation, off.signal, call('a'));
    // Whoever leaves first leaves the place to the other; and of a leg that never began, nothing is kept.
    b.end(false);
    expect(() => open('e')).toThrow('too many calls live on this worker');
    again.end(false);
    open('e').begin();
    expect(() => open('f')).toThrow('too many calls live on this worker');
    off.abort();
    await held;
    expect(() => open('f', 't3')).toThrow('too many calls live on this worker');
    await until(async () => {
      try {
        return open('f', 't3');
      } catch {
        return undefined;
      }
    });
    // A leg on the wire keeps its place for as long as it takes.
    await sleep(1_500);
    expect(() => open('g', 't4')).toThrow('too many calls live on this worker');
  });
});

describe('a leg that is dispatched again', () => {
  const wish = { server: 'd', capabilities: {}, maxResultBytes: 1_000 };
  const endpoint = { id: 'old', url: 'http://127.0.0.1:9/mcp', key: 'k' };

  it("has a session of its own, and leaves the one that is the call's", async () => {
    const live = connections();
    const first = live.forLeg(call('inv_1'));
    const session = first.openSession(endpoint, wish);
    first.begin();
    const again = live.forLeg(call('inv_1'));
    const other = again.openSession(endpoint, wish);
    again.end(true);
    expect([session.isOpen, other.isOpen]).toEqual([true, false]);
    first.end(false);
    const next = live.forLeg(call('inv_1'));
    expect(next.findSession(endpoint, other.generation)).toBeUndefined();
    expect(next.findSession(endpoint, session.generation)).toBe(session);
    next.begin();
    next.end(true);
    expect(session.isOpen).toBe(false);
  });

  it('takes the place of the session of a try that never reached the server', () => {
    const live = connections();
    const [first, second] = [1, 2].map(() => {
      const leg = live.forLeg(call('inv_1'));
      const session = leg.openSession(endpoint, wish);
      leg.begin();
      leg.end(false);
      return session;
    });
    expect([first?.isOpen, second?.isOpen]).toEqual([false, true]);
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
