import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freshStore, type FreshStore } from '../../test/harness/fresh-store.js';
import { Idempotency, type IdempotencyScope } from './idempotency.js';

const scope: IdempotencyScope = { tenant: 't1', actor: 'agent', route: 'POST /v1/invocations', key: 'k 1:ü' };
let store: FreshStore;
let idempotency: Idempotency;

beforeAll(async () => {
  store = await freshStore();
  idempotency = new Idempotency(store.redis, store.keys);
});
afterAll(() => store.close());
beforeEach(() => store.wipe());

describe('Idempotency.reserve', () => {
  it('is fresh once; a repeat goes on under the first ids', async () => {
    expect(await idempotency.reserve(scope, 'f', { invocation: 'inv_1' })).toEqual({ is: 'fresh' });
    expect(await idempotency.reserve(scope, 'f', { invocation: 'inv_2' })).toEqual({
      is: 'again',
      kept: { invocation: 'inv_1' },
    });
  });

  it('is fresh for one of many at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, i) => idempotency.reserve(scope, 'f', { invocation: `inv_${i}` })),
    );
    expect(all.filter((reservation) => reservation.is === 'fresh')).toHaveLength(1);
    const kept = all.flatMap((reservation) => (reservation.is === 'again' ? [reservation.kept['invocation']] : []));
    expect(new Set(kept).size).toBe(1);
  });

  it('is a mismatch for another body, before and after the reply', async () => {
    await idempotency.reserve(scope, 'f', {});
    expect(await idempotency.reserve(scope, 'g', {})).toEqual({ is: 'mismatch' });
    await idempotency.complete(scope, 'reply');
    expect(await idempotency.reserve(scope, 'g', {})).toEqual({ is: 'mismatch' });
  });

  it('lets the caller say when two fingerprints are of one body', async () => {
    await idempotency.reserve(scope, 'f1.old.x', {});
    expect(await idempotency.reserve(scope, 'f1.new.x', {}, (first) => first === 'f1.old.x')).toEqual({ is: 'again', kept: {} });
  });

  it.each([
    ['tenant', { tenant: 't2' }],
    ['actor', { actor: 'other' }],
    ['route', { route: 'POST /v1/invocations/inv_1/cancel' }],
    ['key', { key: 'k 1' }],
  ])('knows nothing of the same key under another %s', async (_, other) => {
    await idempotency.reserve(scope, 'f', {});
    expect(await idempotency.reserve({ ...scope, ...other }, 'g', {})).toEqual({ is: 'fresh' });
  });

  it('forgets a key after its time', async () => {
    const brief = new Idempotency(store.redis, store.keys, { ttlMs: 40 });
    await brief.reserve(scope, 'f', {});
    await expect.poll(() => brief.reserve(scope, 'g', {})).toEqual({ is: 'fresh' });
  });

  it('leaves the caller’s key out of the store', async () => {
    await idempotency.reserve({ ...scope, key: 'canary' }, 'f', {});
    expect((await store.written()).join()).not.toContain('canary');
  });
});

describe('Idempotency.complete', () => {
  it('gives the first reply to every repeat', async () => {
    await idempotency.reserve(scope, 'f', { invocation: 'inv_1' });
    await idempotency.complete(scope, 'first');
    await idempotency.complete(scope, 'second');
    expect(await idempotency.reserve(scope, 'f', {})).toEqual({ is: 'again', kept: { invocation: 'inv_1' }, reply: 'first' });
  });

  it('makes no entry for a key whose time is over', async () => {
    await idempotency.complete(scope, 'late');
    expect(await idempotency.reserve(scope, 'f', {})).toEqual({ is: 'fresh' });
  });
});
