/** Holds what the suite has said of one scenario against what it must say. */

import type { Expectation } from './expectations.js';
import type { Check } from './referee.js';

export interface Verdict {
  readonly scenario: string;
  /** Of checks that hold, fail or warn; what is skipped is in neither. */
  readonly passed: number;
  readonly judged: number;
  readonly skipped: readonly { readonly check: string; readonly reason: string }[];
  /** Why this is not what is expected; empty when it is. */
  readonly faults: readonly string[];
}

/** @param callersFault what a caller of Parley saw and must not see */
export function verdictOn(
  scenario: string,
  checks: readonly Check[],
  expected: Expectation,
  callersFault: string | undefined,
): Verdict {
  const having = (...statuses: Check['status'][]) => checks.filter(({ status }) => statuses.includes(status));
  const passed = having('SUCCESS').length;
  const judged = having('SUCCESS', 'FAILURE', 'WARNING').length;
  const reasons = expected.skipped ?? {};
  const skipped = having('SKIPPED').map(({ name }) => name);
  const faults = [
    ...(callersFault === undefined ? [] : [callersFault]),
    ...having('FAILURE', 'WARNING').map(
      ({ name, status, errorMessage, description }) => `${status} ${name}: ${errorMessage ?? description}`,
    ),
    ...(passed === expected.passed ? [] : [`${passed} checks hold, ${expected.passed} are expected to`]),
    ...skipped.filter((name) => !Object.hasOwn(reasons, name)).map((name) => `SKIPPED ${name}, for no known reason`),
    ...Object.keys(reasons)
      .filter((name) => !skipped.includes(name))
      .map((name) => `${name} is expected to be skipped, and was not`),
  ];
  return { scenario, passed, judged, skipped: skipped.map((check) => ({ check, reason: reasons[check] ?? 'unknown' })), faults };
}
