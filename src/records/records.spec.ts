import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Sealed } from '../../domain/call.js';
import { consentIdFrom, type InvocationId } from '../../domain/ids.js';
import { maxCallDeadlineMs } from '../../domain/policy.js';
import { freshStore, type FreshStore } from '../../test/harness/fresh-store.js';
import { aRecord } from '../../test/harness/a-record.js';
import { Records, type InvocationRecord, type OpenConsent } from './records.js';

const retentionMs = 60_000;
let store: FreshStore;
let records: Records;

beforeAll(async () => {
  store = await freshStore();
  records = new Records(store.redis, store.keys, { retentionMs, auditRetentionMs: 2 * retentionMs });
});
afterAll(() => store.close());
beforeEach(() => store.wipe());

function aConsent(invocation: InvocationId): OpenConsent {
  return {
    id: consentIdFrom(randomUUID()),
    tenant: 't1',
    invocation,
    subject: 'user-1',
    server: 'deploys',
    method: 'tools/call',
    name: 'deploy',
    paramsDigest: 'sha256:0',
    round: 1,
    status: 'open',
    openedAt: Date.now(),
    deadlineAt: Date.now() + 10_000,
    viewDigest: 'sha256:1',
    view: 's1.k.view' as Sealed,
  };
}

async function created(overrides: Partial<InvocationRecord> = {}): Promise<InvocationRecord> {
  const record = aRecord(overrides);
  expect(await records.create(record)).toBe(true);
  return record;
}

/** The step of `record` that asks. */
async function asking(record: InvocationRecord, sequence: number, consent: OpenConsent): Promise<boolean> {
  return records.publish({ ...record, sequence, status: 'awaiting_input', consent: consent.id }, consent);
}

describe('Records.create', () => {
  it('gives back exactly what was created, nulls and all', async () => {
    const record = await created();
    expect(await records.get('t1', record.id)).toEqual(record);
  });

  it('changes nothing the second time', async () => {
    const record = await created();
    expect(await records.create({ ...record, status: 'closed' })).toBe(false);
    expect(await records.get('t1', record.id)).toEqual(record);
  });

  it('is invisible to another tenant', async () => {
    const record = await created();
    expect(await records.get('t2', record.id)).toBeNull();
  });
});

describe('Records.publish', () => {
  it('writes a newer step', async () => {
    const record = await created();
    const step = { ...record, sequence: 1, status: 'awaiting_input', round: 1, updatedAt: 2_000 } as const;
    expect(await records.publish(step)).toBe(true);
    expect(await records.get('t1', record.id)).toEqual(step);
  });

  it('ignores a step that is not newer, in any order', async () => {
    const record = await created();
    const steps = Array.from({ length: 20 }, (_, i) => i + 1);
    const shuffled = steps.map((step) => steps[(step * 7) % 20]!);
    await Promise.all(shuffled.map((step) => records.publish({ ...record, sequence: step, leg: step })));
    expect(await records.get('t1', record.id)).toMatchObject({ sequence: 20, leg: 20 });
    expect(await records.publish({ ...record, sequence: 20, leg: 99 })).toBe(false);
    expect(await records.get('t1', record.id)).toMatchObject({ leg: 20 });
  });

  it('writes null over a value', async () => {
    const record = await created({ deadlineAt: 5_000 });
    await records.publish({ ...record, sequence: 1, deadlineAt: null });
    expect(await records.get('t1', record.id)).toMatchObject({ deadlineAt: null });
  });

  it('rebuilds a lost record, and its place in the lists', async () => {
    const record = aRecord({ status: 'awaiting_input', sequence: 7 });
    expect(await records.publish(record)).toBe(true);
    expect(await records.get('t1', record.id)).toEqual(record);
    expect((await records.list('t1', 'user-1', { limit: 10 })).items).toHaveLength(1);
    expect((await records.list('t1', 'agent', { limit: 10 })).items).toHaveLength(1);
  });

  it('keeps an open record longer than any call, and a closed one for the retention', async () => {
    const record = await created();
    const leftMs = () => store.redis.pTTL(store.keys.record('t1', record.id));
    await records.publish({ ...record, sequence: 1, status: 'awaiting_input' });
    expect(await leftMs()).toBeGreaterThan(maxCallDeadlineMs);
    await records.publish({ ...record, sequence: 2, status: 'closed', outcome: 'completed' });
    expect(await leftMs()).toBeLessThanOrEqual(retentionMs);
    expect(await leftMs()).toBeGreaterThan(retentionMs - 10_000);
  });

  it('names what is open, from the start to the end, and again after a loss', async () => {
    const open = () => store.redis.zRange(store.keys.openRecords(), 0, -1);
    const record = await created();
    expect(await open()).toEqual([`t1/${record.id}`]);
    await store.redis.del(store.keys.openRecords());
    await records.publish({ ...record, sequence: 1, status: 'awaiting_input' });
    expect(await open()).toEqual([`t1/${record.id}`]);
    await records.publish({ ...record, sequence: 2, status: 'closed' });
    expect(await open()).toEqual([]);
  });
});

describe('a question', () => {
  const inbox = async (person = 'user-1') => (await records.openConsents('t1', person, { limit: 10 })).items;
  const status = async ({ id }: { id: string }) => (await records.consent('t1', id))?.status;

  it('and the call that asks it are there at once, once, for its subject', async () => {
    const record = await created();
    const consent = aConsent(record.id);
    await asking(record, 1, consent);
    await asking(record, 2, consent);
    expect(await inbox()).toEqual([consent]);
    expect(await records.consent('t1', consent.id)).toEqual(consent);
    expect(await records.get('t1', record.id)).toMatchObject({ status: 'awaiting_input', consent: consent.id });
    expect(await store.redis.zRange(store.keys.openConsents(), 0, -1)).toEqual([`t1/${consent.id}`]);
    expect(await inbox('user-2')).toEqual([]);
    expect(await records.consent('t2', consent.id)).toBeNull();
  });

  it('of a step that comes too late is not asked', async () => {
    const record = await created({ sequence: 5 });
    const consent = aConsent(record.id);
    expect(await asking(record, 5, consent)).toBe(false);
    expect(await inbox()).toEqual([]);
    expect(await records.consent('t1', consent.id)).toBeNull();
  });

  it('is closed by the step that ends it, stays readable, and is not opened again', async () => {
    const record = await created();
    const consent = aConsent(record.id);
    await asking(record, 1, consent);
    await records.publish({ ...record, sequence: 2 }, { id: consent.id, status: 'answered', closedAt: 5 });
    expect(await records.consent('t1', consent.id)).toEqual({ ...consent, status: 'answered', closedAt: 5 });
    expect(await records.get('t1', record.id)).toMatchObject({ consent: null, sequence: 2 });
    expect(await store.redis.pTTL(store.keys.consent('t1', consent.id))).toBeLessThanOrEqual(retentionMs);
    await asking(record, 3, consent);
    expect(await status(consent)).toBe('answered');
    expect(await inbox()).toEqual([]);
    expect(await store.redis.zCard(store.keys.openConsents())).toBe(0);
  });

  it('of a run that was cut off is withdrawn by the next step of the one that took over', async () => {
    const record = await created();
    const [before, after] = [aConsent(record.id), aConsent(record.id)];
    await asking(record, 1, before);
    await asking(record, 2, after);
    expect([await status(before), await status(after)]).toEqual(['withdrawn', 'open']);
    expect(await inbox()).toEqual([after]);
    await records.publish({ ...record, sequence: 3, status: 'closed', outcome: 'cancelled' });
    expect(await status(after)).toBe('withdrawn');
    expect(await inbox()).toEqual([]);
  });
});

describe('Records.closeUnattended', () => {
  const patch = { outcome: 'unreachable', reason: 'never_started' } as const;

  it('closes a record, and a workflow that still comes has the last word', async () => {
    const record = await created();
    expect(await records.closeUnattended(record, patch)).toBe(true);
    expect(await records.get('t1', record.id)).toMatchObject({ status: 'closed', ...patch, sequence: 0 });
    expect(await store.redis.zCard(store.keys.openRecords())).toBe(0);
    expect(await records.publish(aRecord({ id: record.id, status: 'awaiting_input', sequence: 1 }))).toBe(true);
    expect(await records.get('t1', record.id)).toMatchObject({ status: 'awaiting_input', outcome: null, reason: null });
    expect(await store.redis.zRange(store.keys.openRecords(), 0, -1)).toEqual([`t1/${record.id}`]);
    expect(await store.redis.pTTL(store.keys.record('t1', record.id))).toBeGreaterThan(maxCallDeadlineMs);
  });

  it('leaves alone what has changed since it was seen, what is closed, and what is gone', async () => {
    const record = await created();
    await records.publish({ ...record, sequence: 1, status: 'awaiting_input' });
    expect(await records.closeUnattended(record, patch)).toBe(false);
    await records.publish({ ...record, sequence: 2, status: 'closed', outcome: 'completed' });
    expect(await records.closeUnattended({ ...record, sequence: 2 }, patch)).toBe(false);
    expect(await records.get('t1', record.id)).toMatchObject({ outcome: 'completed' });
    expect(await records.closeUnattended(aRecord(), patch)).toBe(false);
  });
});

describe('the index of a person’s calls', () => {
  it('does not grow with calls that are gone', async () => {
    for (let n = 0; n < 300; n += 1) {
      const { id } = await created({ requester: 'user-1' });
      await store.redis.del(store.keys.record('t1', id));
    }
    // Three looks for each new entry find the gone ones faster than they come.
    expect(await store.redis.zCard(store.keys.recordsOf('t1', 'user-1'))).toBeLessThan(30);
  });
});

describe('Records.list', () => {
  it('shows a call to its subject and to its requester, once each', async () => {
    const record = await created();
    const own = await created({ subject: 'agent', startedAt: 2_000 });
    const ids = async (person: string) => (await records.list('t1', person, { limit: 10 })).items.map(({ id }) => id);
    expect(await ids('user-1')).toEqual([record.id]);
    expect(await ids('agent')).toEqual([own.id, record.id]);
    expect(await ids('other')).toEqual([]);
    expect((await records.list('t2', 'agent', { limit: 10 })).items).toEqual([]);
  });

  it('pages newest first, each call once, also those of one millisecond and while new ones arrive', async () => {
    for (let i = 0; i < 9; i += 1) await created({ startedAt: 1_000 + Math.floor(i / 3) });
    const seen: InvocationRecord[] = [];
    let cursor: string | null = null;
    do {
      const page = await records.list('t1', 'user-1', { limit: 2, ...(cursor !== null && { cursor }) });
      seen.push(...page.items);
      cursor = page.next;
      await created({ startedAt: 9_000 });
    } while (cursor !== null);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(9);
    expect(seen.map(({ startedAt }) => startedAt)).toEqual([1_002, 1_002, 1_002, 1_001, 1_001, 1_001, 1_000, 1_000, 1_000]);
  });

  it('filters by status', async () => {
    await created();
    const parked = await created({ status: 'awaiting_input' });
    const page = await records.list('t1', 'user-1', { limit: 10, status: 'awaiting_input' });
    expect(page).toEqual({ items: [parked], next: null });
  });

  it('drops calls whose time is over', async () => {
    const record = await created();
    const kept = await created();
    await store.redis.del(store.keys.record('t1', record.id));
    expect((await records.list('t1', 'user-1', { limit: 10 })).items).toEqual([kept]);
    expect(await store.redis.zCard(store.keys.recordsOf('t1', 'user-1'))).toBe(1);
  });

  it.each(['', 'x', '!!', Buffer.from('[nonsense').toString('base64url')])(
    'refuses cursor %j (cursor_invalid)',
    async (cursor) => {
      await expect(records.list('t1', 'user-1', { cursor, limit: 10 })).rejects.toMatchObject({ code: 'cursor_invalid' });
    },
  );
});

describe('Records.closeConsent', () => {
  it('takes the question out of the inbox and keeps it readable; the first close stands', async () => {
    const record = await created();
    const consent = aConsent(record.id);
    await asking(record, 1, consent);
    await records.closeConsent('t1', consent.id, 'expired', 5);
    await records.closeConsent('t1', consent.id, 'withdrawn', 6);
    expect(await records.consent('t1', consent.id)).toEqual({ ...consent, status: 'expired', closedAt: 5 });
    expect((await records.openConsents('t1', 'user-1', { limit: 10 })).items).toEqual([]);
    expect(await store.redis.zCard(store.keys.openConsents())).toBe(0);
    expect(await store.redis.pTTL(store.keys.consent('t1', consent.id))).toBeLessThanOrEqual(retentionMs);
  });

  it('leaves an unknown consent unknown', async () => {
    await records.closeConsent('t1', consentIdFrom(randomUUID()), 'answered', 5);
    expect(await store.written()).toEqual([]);
  });
});

describe('Records.saveReceipt', () => {
  it('keeps the first receipt under an id, for its tenant', async () => {
    const receipt = { jws: 'a.b.c', subject: 'user-1', invocation: 'inv_1' };
    await records.saveReceipt('t1', 'rct_1', receipt);
    await records.saveReceipt('t1', 'rct_1', { ...receipt, jws: 'x' });
    expect(await records.receipt('t1', 'rct_1')).toEqual(receipt);
    expect(await records.receipt('t2', 'rct_1')).toBeNull();
  });
});
