import { describe, expect, it } from 'vitest';
import type { LedgerLeg } from './ledger-rows.js';
import { wrongWith, type Facts } from './judge.js';

const id = 'inv_1';
const asked: LedgerLeg = { leg: 1, state: 'done', is: 'asked' };

describe('judge of a call that is called terminated', () => {
  it('takes a question, and a leg that was revoked, for no leg on its way', () => {
    expect(wrongWith(terminated(1, [1], [asked, { leg: 2, state: 'revoked' }]))).toEqual([]);
    expect(wrongWith(terminated(1, [], [{ leg: 1, state: 'revoked' }]))).toEqual([]);
  });

  it('refuses it for a leg that was begun and has no answer in the ledger', () => {
    const wrong = wrongWith(terminated(2, [1, 2], [asked, { leg: 2, state: 'begun' }]));
    expect(wrong).toEqual(['terminated, while the ledger says of leg 2: begun']);
  });

  it('refuses it for a leg that ended the call', () => {
    const wrong = wrongWith(terminated(2, [1, 2], [asked, { leg: 2, state: 'done', is: 'completed' }]));
    expect(wrong).toEqual(['terminated, while the ledger says of leg 2: completed']);
  });

  it('refuses it for a leg that the server has seen, and the ledger does not know or calls unsent', () => {
    expect(wrongWith(terminated(1, [1, 2], [asked]))).toHaveLength(1);
    expect(wrongWith(terminated(1, [1], [{ leg: 1, state: 'revoked' }]))).toHaveLength(1);
    expect(wrongWith(terminated(1, [1], [{ leg: 1, state: 'done', is: 'never_sent' }]))).toHaveLength(1);
  });
});

function terminated(leg: number, sent: readonly number[], ledger: readonly LedgerLeg[]): Facts {
  return {
    method: 'tools/call',
    id: id as Facts['id'],
    given: [],
    notShown: [],
    endings: ['cancelled/terminated'],
    mayAskAgain: false,
    seen: {
      status: 'closed',
      outcome: 'cancelled',
      reason: 'terminated',
      leg,
      round: 1,
      consent: null,
      startedAt: '2026-01-01T00:00:00Z',
      result: null,
    },
    rows: sent.map((each) => ({ is: 'effect', call: 'a', leg: each, id: `${id}.${each}`, at: 0 })),
    ledger,
  };
}
