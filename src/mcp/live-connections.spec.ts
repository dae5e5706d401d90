import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { InvocationId } from '../../domain/ids.js';
import { root } from '../../tools/root.js';
import { until } from '../../tools/until.js';
import { LiveConnections } from './live-connections.js';
import type { ServerProgram } from './server-program.js';

const call = (invocation: string, tenant = 't1') => ({ invocation: invocation as InvocationId, tenant });
const script = join(root, 'test/harness/hostile-stdio.mjs');
const open: LiveConnections[] = [];

function connections(maxParked = 10): LiveConnections {
  const log = { info: () => undefined };
  const made = new LiveConnections({ queue: 'q', leaseMs: 1_000, maxParked, onDescribed: () => undefined, log });
  open.push(made);
  return made;
}

function hostile(behaviour: string): ServerProgram {
  const args = [script, behaviour];
  return { id: 'hostile', key: 'k', command: process.execPath, args, env: {}, maxResultBytes: 100_000 };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
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
