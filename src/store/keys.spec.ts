import { describe, expect, it } from 'vitest';
import { Keys, ownerOfLedger, patternOf } from './keys.js';

const keys = new Keys('p');

describe('Keys', () => {
  it('writes the pinned names', () => {
    expect([
      keys.epoch(),
      keys.ledger('t', 'inv_1'),
      keys.blob('t', 'inv_1', 2),
      keys.stateClaim('f1.k.x'),
      keys.audit('t'),
      keys.record('t', 'inv_1'),
      keys.recordsOf('t', 'u'),
      keys.openRecords(),
      keys.changes('t', 'inv_1'),
      keys.consent('t', 'cns_1'),
      keys.openConsentsOf('t', 'u'),
      keys.openConsents(),
      keys.receipt('t', 'rct_1'),
      keys.bindingDoubt('t', 'inv_1'),
      keys.idempotency('t', 'u', 'abc'),
      keys.temporalNamespace(),
      keys.reconcileTurn(),
      keys.suspicions(),
    ]).toEqual([
      'p:epoch',
      'p:ledger:t:inv_1',
      'p:blob:t:inv_1:2',
      'p:state:f1.k.x',
      'p:audit:t',
      'p:record:t:inv_1',
      'p:records-of:t:u',
      'p:open-records',
      'p:changes:t:inv_1',
      'p:consent:t:cns_1',
      'p:open-consents-of:t:u',
      'p:open-consents',
      'p:receipt:t:rct_1',
      'p:binding-doubt:t:inv_1',
      'p:idempotency:t:u:abc',
      'p:temporal-namespace',
      'p:reconcile-turn',
      'p:suspicions',
    ]);
  });

  it('finds one kind of keys, whatever the prefix is made of', () => {
    expect(patternOf(new Keys('a*[b]').record('', ''))).toBe('a\\*\\[b\\]:record:*');
  });

  it('says whose a ledger is, whatever its ids are made of', () => {
    const owner = { tenant: 'a:b/%', invocation: 'inv_1' };
    expect(ownerOfLedger(new Keys('p:q').ledger(owner.tenant, owner.invocation))).toEqual(owner);
  });

  it('lets no id reach into another key', () => {
    expect(keys.record('a:b', 'c')).not.toBe(keys.record('a', 'b:c'));
    expect(keys.recordsOf('t', 'x:y%*')).toBe('p:records-of:t:x%3Ay%25*');
  });
});
