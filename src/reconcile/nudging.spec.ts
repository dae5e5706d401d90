import { describe, expect, it } from 'vitest';
import { nudging } from './nudging.js';
import type { Suspicion } from './suspicions.js';

const graceMs = 1_000;
const at = 5_000_000;
const hourMs = 3_600_000;
const stuck = (since: number, nudgedAt = 0): Suspicion => ({ code: 'answer_not_sent', since, nudgedAt });

describe('nudging', () => {
  it.each<[string, Suspicion | undefined, boolean, string]>([
    ['what is sure, at once', undefined, true, 'nudge'],
    ['what is not, only after a second look', undefined, false, 'wait'],
    ['too soon after the first', stuck(at - graceMs + 1), false, 'wait'],
    ['and it is the same', stuck(at - graceMs), false, 'nudge'],
    ['a nudge that may still help', stuck(at - 9_000, at - graceMs + 1), false, 'wait'],
    ['a nudge that did not help', stuck(at - 9_000, at - graceMs), false, 'left'],
    ['and did not for an hour', stuck(at - 2 * hourMs, at - hourMs), false, 'nudge left'],
    ['something else than before', { code: 'leg_not_begun', since: at - 9_000, nudgedAt: at - 8_000 }, false, 'wait'],
  ])('%s', (_, before, isSure, expected) => {
    const { isDue, isLeft } = nudging(before, 'answer_not_sent', isSure, at, graceMs);
    const said = [...(isDue ? ['nudge'] : []), ...(isLeft ? ['left'] : [])];
    expect(said.join(' ') || 'wait').toBe(expected);
  });
});
