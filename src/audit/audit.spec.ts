import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { freshStore, silentLog, type FreshStore } from '../../test/harness/fresh-store.js';
import { TcpGate } from '../../test/harness/tcp-gate.js';
import { connectRedis } from '../store/redis.js';
import { Audit, type AuditEvent } from './audit.js';

const event: AuditEvent = { type: 'leg_submitted', invocation: 'inv_1', leg: 1, wireId: 'inv_1.1', name: 'dëploy "x"' };
const retentionMs = 60_000;
let store: FreshStore;
let audit: Audit;

beforeAll(async () => {
  store = await freshStore();
  audit = new Audit(store.redis, store.keys, { retentionMs });
});
afterAll(() => store.close());
beforeEach(() => store.wipe());

describe('Audit.append', () => {
  it('returns only when the entry was read back, exact to the number', async () => {
    const id = await audit.append('t1', event);
    const { items } = await audit.list('t1', { limit: 10 });
    expect(items).toEqual([{ ...event, id, at: expect.stringMatching(/^\d{4}-.*Z$/) as string }]);
  });

  it('fails when the store is away (not_written)', async () => {
    const gate = await new TcpGate(new URL(inject('redisUrl'))).open();
    const redis = await connectRedis(gate.url, silentLog, 300);
    await gate.shut();
    await expect(new Audit(redis, store.keys, { retentionMs }).append('t1', event)).rejects.toMatchObject({
      code: 'not_written',
    });
    redis.destroy();
  });

  it('fails when the stream cannot be written (not_written)', async () => {
    await store.redis.set(store.keys.audit('t1'), 'no stream');
    await expect(audit.append('t1', event)).rejects.toMatchObject({ code: 'not_written' });
  });

  it.each([
    ['is gone', (id: string) => store.redis.xTrim(store.keys.audit('t1'), 'MINID', `${Number(id.split('-')[0]) + 1}`)],
    [
      'cannot be read',
      () => store.redis.del(store.keys.audit('t1')).then(() => store.redis.set(store.keys.audit('t1'), 'no stream')),
    ],
  ])('fails when the entry %s right after it was written (not_read_back)', async (_, spoil) => {
    const xAdd: typeof store.redis.xAdd = async (...args) => {
      const id = await store.redis.xAdd(...args);
      await spoil(id);
      return id;
    };
    const spoiled = Object.create(store.redis, { xAdd: { value: xAdd } }) as typeof store.redis;
    await expect(new Audit(spoiled, store.keys, { retentionMs }).append('t1', event)).rejects.toMatchObject({
      code: 'not_read_back',
    });
  });
});

describe('the retention of an audit record', () => {
  const entry = { event: JSON.stringify(event) };
  const old = (n: number) => store.redis.xAdd(store.keys.audit('t1'), `${1_000 + n}-0`, entry);

  it('drops entries that are too old as new ones come, in blocks', async () => {
    // Valkey keeps 100 entries to a block.
    for (let n = 0; n < 250; n += 1) await old(n);
    const id = await audit.append('t1', event);
    const { items } = await audit.list('t1', { limit: 1_000 });
    expect(items.length).toBeLessThan(101);
    expect(items.at(-1)?.id).toBe(id);
  });

  it('lets go of the record of a tenant that has fallen silent', async () => {
    await audit.append('t1', event);
    const leftMs = await store.redis.pTTL(store.keys.audit('t1'));
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(retentionMs);
  });
});

describe('Audit.list', () => {
  it('shows a tenant its own entries only', async () => {
    await audit.append('t1', event);
    expect(await audit.list('t2', { limit: 10 })).toEqual({ items: [], next: null });
  });

  it('pages oldest first, each entry once', async () => {
    for (let leg = 1; leg <= 5; leg += 1) await audit.append('t1', { ...event, leg });
    const legs: (number | undefined)[] = [];
    let after: string | null = null;
    do {
      const page = await audit.list('t1', { limit: 2, ...(after !== null && { after }) });
      legs.push(...page.items.map((item) => item.leg));
      after = page.next;
    } while (after !== null);
    expect(legs).toEqual([1, 2, 3, 4, 5]);
  });
});
