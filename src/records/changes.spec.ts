import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshStore, silentLog, type FreshStore } from '../../test/harness/fresh-store.js';
import { TcpGate } from '../../test/harness/tcp-gate.js';
import { connectRedis } from '../store/redis.js';
import { Changes } from './changes.js';

let store: FreshStore;
let changes: Changes;

beforeAll(async () => {
  store = await freshStore();
});
afterAll(() => store.close());
afterEach(() => changes.close());

const change = (invocation: string) => store.redis.publish(store.keys.changes('t1', invocation), '1');
const subscribers = async (invocation: string) => {
  const channel = store.keys.changes('t1', invocation);
  return (await store.redis.pubSubNumSub([channel]))[channel];
};

describe('Changes.follow', () => {
  it('notices a change while waiting, and one from before the wait', async () => {
    changes = new Changes(store.redis, store.keys);
    const following = await changes.follow('t1', 'inv_1');
    const waiting = following.next(10_000);
    await change('inv_1');
    expect(await waiting).toBe(true);
    await change('inv_1');
    await expect.poll(() => following.next(0)).toBe(true);
  });

  it('is false when the time is over and nothing changed', async () => {
    changes = new Changes(store.redis, store.keys);
    const following = await changes.follow('t1', 'inv_1');
    await change('inv_other');
    expect(await following.next(20)).toBe(false);
  });

  it('shares one subscription between followers, and ends it with the last', async () => {
    changes = new Changes(store.redis, store.keys);
    const all = await Promise.all([changes.follow('t1', 'inv_2'), changes.follow('t1', 'inv_2'), changes.follow('t1', 'inv_2')]);
    expect(await subscribers('inv_2')).toBe(1);
    const [first, ...others] = all;
    await first!.close();
    const waiting = others.map((following) => following.next(10_000));
    await change('inv_2');
    expect(await Promise.all(waiting)).toEqual([true, true]);
    await Promise.all(others.map((following) => following.close()));
    await expect.poll(() => subscribers('inv_2')).toBe(0);
  });

  it('works again after everybody left, also when one leaves while another comes', async () => {
    changes = new Changes(store.redis, store.keys);
    for (let i = 0; i < 20; i += 1) {
      const first = await changes.follow('t1', 'inv_3');
      const [second] = await Promise.all([changes.follow('t1', 'inv_3'), first.close()]);
      const waiting = second.next(10_000);
      await change('inv_3');
      expect(await waiting).toBe(true);
      const [third] = await Promise.all([first.close().then(() => changes.follow('t1', 'inv_3')), second.close()]);
      const again = third.next(10_000);
      await change('inv_3');
      expect(await again).toBe(true);
      await third.close();
    }
    await expect.poll(() => subscribers('inv_3')).toBe(0);
  });

  it('wakes who waits when it is closed', async () => {
    changes = new Changes(store.redis, store.keys);
    const following = await changes.follow('t1', 'inv_4');
    const waiting = following.next(60_000);
    await changes.close();
    expect(await waiting).toBe(false);
  });

  it('wakes everybody after the connection was lost: messages may be lost with it', async () => {
    const gate = await new TcpGate(new URL(inject('redisUrl'))).open();
    const behind = await connectRedis(gate.url, silentLog);
    changes = new Changes(behind, store.keys);
    const following = await changes.follow('t1', 'inv_5');
    const waiting = following.next(20_000);
    await gate.shut();
    await change('inv_5');
    await gate.open();
    expect(await waiting).toBe(true);
    const afterwards = following.next(20_000);
    await change('inv_5');
    expect(await afterwards).toBe(true);
    behind.destroy();
    await changes.close();
    await gate.shut();
  });

  it('fails when the store is away (unreachable), and works once it is back', async () => {
    const gate = await new TcpGate(new URL(inject('redisUrl'))).open();
    const behind = await connectRedis(gate.url, silentLog);
    changes = new Changes(behind, store.keys);
    await gate.shut();
    await expect(changes.follow('t1', 'inv_6')).rejects.toMatchObject({ code: 'unreachable' });
    await gate.open();
    const following = await changes.follow('t1', 'inv_6');
    const waiting = following.next(10_000);
    await change('inv_6');
    expect(await waiting).toBe(true);
    behind.destroy();
    await changes.close();
    await gate.shut();
  });
});
