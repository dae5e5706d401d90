/** When a call that is alive is asked to publish again, and when it is given up on and reported. Pure. */

import type { SuspicionCode } from './decide.js';
import type { Suspicion } from './suspicions.js';

/** A signal stays in the workflow's history, which has an end: one that does not help is not sent often. */
const repeatMs = 60 * 60_000;

export interface Nudging {
  readonly suspicion: Suspicion;
  readonly isDue: boolean;
  /** It was nudged, had its time, and is still the same. */
  readonly isLeft: boolean;
}

/** @param isSure no second look is needed before the first nudge */
export function nudging(
  before: Suspicion | undefined,
  code: SuspicionCode,
  isSure: boolean,
  nowAt: number,
  graceMs: number,
): Nudging {
  const known = before?.code === code ? before : { code, since: nowAt, nudgedAt: 0 };
  const { since, nudgedAt } = known;
  const isLeft = nudgedAt > 0 && nowAt - nudgedAt >= graceMs;
  const isDue = nudgedAt > 0 ? nowAt - nudgedAt >= repeatMs : isSure || nowAt - since >= graceMs;
  return { suspicion: isDue ? { ...known, nudgedAt: nowAt } : known, isDue, isLeft };
}
