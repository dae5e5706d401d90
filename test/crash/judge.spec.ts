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

describe('judge of the answers to a call that was reset', () => {
  const first = { round: 1, consent: 'c1', text: 'one', key: 'k1', at: 10, status: 200 };
  const second = { round: 1, consent: 'c2', text: 'two', key: 'k2', at: 20, status: 200 };
  const other = { round: 2, consent: 'c3', text: 'three', key: 'k3', at: 32, status: 200 };

  it('takes a second one while nothing was sent, and then that one is sent', () => {
    expect(wrongWith(completed([first, second, other], 30, ['two', 'three']))).toEqual([]);
    expect(wrongWith(completed([first, other], 30, ['one', 'three']))).toEqual([]);
  });

  it('takes one whose verdict nobody heard', () => {
    expect(wrongWith(completed([first, { ...second, status: 202 }, other], 30, ['two', 'three']))).toEqual([]);
  });

  it('refuses a second one to what was sent, whatever the call ended as', () => {
    const asked = 'round 1 was answered again after its answer was sent';
    expect(wrongWith(completed([first, second, other], 15, ['two', 'three']))).toEqual([asked]);
    const facts = completed([first, second], 15, []);
    const unknown = { ...facts.seen!, outcome: 'indeterminate', reason: 'leg_unknown' };
    expect(wrongWith({ ...facts, endings: ['indeterminate/leg_unknown'], seen: unknown })).toEqual([asked]);
  });

  it('refuses an answer from before the question was asked again, and one that nobody gave', () => {
    const last = 'the server got another answer to round 1 than was accepted last';
    expect(wrongWith(completed([first, second, other], 30, ['one', 'three']))).toEqual([last]);
    expect(wrongWith(completed([first, second, other], 30, ['none', 'three']))).toEqual([last]);
  });
});

/** @param sentAt when the answer to round 1 came to the server, which says that it got these */
function completed(given: Facts['given'], sentAt: number, got: readonly string[]): Facts {
  const { seen, ...facts } = terminated(3, []);
  const result = { content: [{ text: JSON.stringify(got) }] };
  const rows = [1, 2, 3].map(
    (leg) => ({ is: 'effect', call: 'a', leg, id: `${id}.${leg}`, at: sentAt + 20 * (leg - 2) }) as const,
  );
  const ended = { ...seen!, outcome: 'completed', reason: 'complete_result', result };
  return { ...facts, endings: ['completed'], mayAskAgain: true, given, rows, seen: ended };
}

function terminated(leg: number, sent: readonly number[], ledger: readonly LedgerLeg[] = []): Facts {
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
