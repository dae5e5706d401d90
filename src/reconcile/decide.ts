/**
 * What is seen → what to do. Pure; asked twice for each call: with what an index of Temporal's says, which lags, and before anything is
 * done once more with what Temporal itself says. Nothing here closes a call whose workflow is alive.
 */

import type { ConsentId } from '../../domain/ids.js';
import type { ConsentStatus } from '../../domain/consent.js';
import { maxLegDeadlineMs } from '../../domain/policy.js';
import type { InvocationRecord } from '../records/record.js';
import type { Seen, SeenConsent } from './seen.js';

/** What is wrong with a call whose workflow is alive. Stable, for programs. */
export const suspicionCodes = [
  'record_lost',
  'record_closed',
  'consent_lost',
  'answer_not_sent',
  'leg_not_begun',
  'leg_stuck',
] as const;
export type SuspicionCode = (typeof suspicionCodes)[number];

/** Whether nothing was ever started, or a workflow is over that has not said so. */
export type Cause = 'never_started' | 'terminated';

export type Act =
  | { readonly is: 'none' }
  /** The workflow is over and will not say how: close the call with what the ledger knows. */
  | { readonly is: 'close'; readonly cause: Cause }
  /** The workflow has said how the call ended: put it into the record. */
  | { readonly is: 'restore' }
  /** Close consents that nobody can answer any more. */
  | { readonly is: 'settle'; readonly consents: readonly ClosedConsent[] }
  /** The workflow is alive: ask it to publish again, and report what persists. `isSure`: no second look is needed. */
  | { readonly is: 'nudge'; readonly code: SuspicionCode; readonly isSure: boolean }
  /** The workflow is alive and a nudge cannot help. */
  | { readonly is: 'report'; readonly code: SuspicionCode };

export interface ClosedConsent {
  readonly id: ConsentId;
  readonly status: Exclude<ConsentStatus, 'open'>;
}

const none: Act = { is: 'none' };

/** @param graceMs what is younger may still be on its way */
export function decide(seen: Seen, nowAt: number, graceMs: number): Act {
  const { record, workflow } = seen;
  if (record === null) return withoutRecord(seen, nowAt, graceMs);
  if (nowAt - record.updatedAt < graceMs) return none;
  if (record.status === 'closed') {
    return workflow.is === 'running' ? { is: 'nudge', code: 'record_closed', isSure: false } : settle(seen);
  }
  switch (workflow.is) {
    case 'completed':
      return { is: 'restore' };
    case 'ended':
      return { is: 'close', cause: 'terminated' };
    case 'gone':
      return { is: 'close', cause: record.sequence === 0 ? 'never_started' : 'terminated' };
    case 'running':
      return whileRunning(seen, record, nowAt, graceMs);
  }
  return workflow satisfies never;
}

function withoutRecord(seen: Seen, nowAt: number, graceMs: number): Act {
  const since = Math.max(seen.startedAt ?? 0, ...seen.consents.map(({ openedAt }) => openedAt));
  if (nowAt - since < graceMs) return none;
  return seen.workflow.is === 'running' ? { is: 'nudge', code: 'record_lost', isSure: true } : settle(seen);
}

function whileRunning(seen: Seen, record: InvocationRecord, nowAt: number, graceMs: number): Act {
  // It waits for somebody to act: no consent is asked for, and no leg is due.
  if (record.reason !== null) return settle(seen, record.leg);
  const { status } = seen.workflow.is === 'running' ? seen.workflow : {};
  if (record.status === 'awaiting_input') {
    const asked = seen.consents.find(({ id }) => id === record.consent);
    if (asked === undefined) return { is: 'nudge', code: 'consent_lost', isSure: true };
    const isAnswered = asked.status !== 'open' || nowAt - (asked.answeredAt ?? nowAt) >= graceMs;
    // The workflow has gone on, and could not say so.
    const hasGoneOn = status !== undefined && status !== 'awaiting_input';
    if (isAnswered || hasGoneOn) return { is: 'nudge', code: 'answer_not_sent', isSure: false };
  }
  if (record.status === 'sending') {
    const { leg } = seen;
    if (leg === null) return { is: 'nudge', code: 'leg_not_begun', isSure: false };
    const dueAt = leg.begunAt + (record.legDeadlineMs ?? maxLegDeadlineMs);
    if (leg.state === 'begun' && nowAt - dueAt >= graceMs) return { is: 'report', code: 'leg_stuck' };
  }
  return settle(seen, record.leg);
}

/**
 * Consents that are open while their call is over, or has gone on to the leg behind their round.
 *
 * @param liveFrom the round from which on a question may be one that the call is just about to show
 */
function settle({ record, consents }: Seen, liveFrom = Infinity): Act {
  const isAsked = (id: ConsentId) => record !== null && record.status === 'awaiting_input' && record.consent === id;
  const left = consents.filter(({ id, status, round }) => status === 'open' && !isAsked(id) && round < liveFrom);
  return left.length === 0 ? none : { is: 'settle', consents: left.map((consent) => closedAs(consent, record)) };
}

function closedAs({ id, round }: SeenConsent, record: InvocationRecord | null): ClosedConsent {
  return { id, status: record !== null && record.leg > round ? 'answered' : 'withdrawn' };
}
