import { describe, expect, it } from 'vitest';
import type { Check } from './referee.js';
import { verdictOn } from './verdict.js';

const aCheck = (status: Check['status'], name = status.toLowerCase()): Check => ({ name, status, description: 'a rule' });
const holds = aCheck('SUCCESS');
const faultsOf = (checks: readonly Check[], skipped: Record<string, string> = {}, callersFault?: string) =>
  verdictOn('a', checks, { passed: 1, skipped }, callersFault).faults;

describe('verdictOn', () => {
  it('finds no fault where what is expected holds and nothing else is said', () => {
    expect(
      verdictOn('a', [holds, aCheck('INFO'), aCheck('SKIPPED', 'b')], { passed: 1, skipped: { b: 'why' } }, undefined),
    ).toEqual({
      scenario: 'a',
      passed: 1,
      judged: 1,
      skipped: [{ check: 'b', reason: 'why' }],
      faults: [],
    });
  });

  it.each<[string, Check[], Record<string, string>, string]>([
    ['a check that fails', [holds, aCheck('FAILURE')], {}, 'FAILURE failure: a rule'],
    ['a warning', [holds, aCheck('WARNING')], {}, 'WARNING warning: a rule'],
    ['a check that is missing', [], {}, '0 checks hold, 1 are expected to'],
    ['a check that nobody knows', [holds, holds], {}, '2 checks hold, 1 are expected to'],
    ['a skip that has no reason', [holds, aCheck('SKIPPED', 'b')], {}, 'SKIPPED b, for no known reason'],
    ['a reason without its skip', [holds], { b: 'why' }, 'b is expected to be skipped, and was not'],
  ])('finds fault with %s', (_, checks, skipped, fault) => {
    expect(faultsOf(checks, skipped)).toEqual([fault]);
  });

  it('finds fault with what a caller saw, whatever the suite says', () => {
    expect(faultsOf([holds], {}, 'not completed')).toEqual(['not completed']);
  });
});
