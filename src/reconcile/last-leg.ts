/**
 * What the ledger knows of a call whose workflow is over: how its last leg ended. A leg that was never begun is revoked on the way, so
 * that an activity which outlived its workflow cannot send after the call was called unsent.
 */

import type { LegOutcome } from '../../domain/call.js';
import { defaultPolicy, maxLegDeadlineMs } from '../../domain/policy.js';
import { judge, noProgress, type Ending } from '../../domain/judge.js';
import type { Ledger, LedgerRow } from '../ledger/ledger.js';
import type { InvocationRecord } from '../records/record.js';

export type LastLeg = { readonly is: 'row'; readonly leg: number; readonly row: LedgerRow } | { readonly is: 'lost' };

/** More than any activity has tries: whatever still comes is later than this and loses. */
const lastTry = Number.MAX_SAFE_INTEGER;

/** Another leg may have followed these. */
const mayGoOn: ReadonlySet<LegOutcome['is']> = new Set(['asked', 'turned_away', 'state_expired']);

export async function lastLegOf(ledger: Ledger, record: InvocationRecord): Promise<LastLeg> {
  const { tenant, id: invocation, ledgerEpoch, ledgerClock = 0 } = record;
  if (ledgerEpoch === undefined) return { is: 'lost' };
  const position = { epoch: ledgerEpoch, clock: ledgerClock };
  for (let leg = 1; ; leg += 1) {
    const row = await ledger.resolve({ tenant, invocation, leg, try: lastTry }, position);
    if (row === 'epoch_lost') return { is: 'lost' };
    if (row.report === undefined || !mayGoOn.has(row.report.outcome.is)) return { is: 'row', leg, row };
  }
}

/** How the call ended, and at which leg. */
export interface KnownEnding {
  readonly ending: Ending;
  readonly leg: number;
}

const unknown: Ending = { outcome: 'indeterminate', reason: 'leg_unknown' };

/**
 * @param ifUnsent how a call ends of which nothing is on its way
 * @param limits.graceMs   how long after its deadline a begun leg may still be written down
 * @param limits.keptForMs a row is kept at least so long, counted from the start of its call
 * @returns undefined while the leg may still come back
 */
export function endingFrom(
  record: InvocationRecord,
  last: LastLeg,
  ifUnsent: Ending,
  nowAt: number,
  limits: { readonly graceMs: number; readonly keptForMs: number },
): KnownEnding | undefined {
  if (last.is === 'lost') return { ending: unknown, leg: record.leg };
  const { leg, row } = last;
  if (row.report !== undefined) {
    const step = judge(defaultPolicy, noProgress, row.report.outcome);
    // Proven unsent, and nobody will try again.
    const isUnsent = step.is !== 'over' || row.report.outcome.is === 'never_sent';
    return { leg, ending: isUnsent ? ifUnsent : step.ending };
  }
  if (row.state === 'begun') {
    const isOverdue = row.ageMs >= (record.legDeadlineMs ?? maxLegDeadlineMs) + limits.graceMs;
    return isOverdue ? { ending: unknown, leg } : undefined;
  }
  // A row that should be there, or that may have been, proves nothing by its absence.
  const isMissing = leg < record.leg || (leg === 1 && nowAt - record.startedAt >= limits.keptForMs);
  return { leg: Math.max(record.leg, leg - 1), ending: isMissing ? unknown : ifUnsent };
}
