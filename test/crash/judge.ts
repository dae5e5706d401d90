/** What is wrong with a call: judged by the server's own count, what the API says, and what a person was told. */

import type { Ending } from './allowed.js';
import type { Call, Given, Seen } from './call.js';
import { answersOf } from './effect-protocol.js';
import type { LedgerLeg } from './ledger-rows.js';
import type { ServerRow } from './rig.js';

export interface Facts extends Pick<Call, 'method' | 'id' | 'given' | 'notShown'> {
  /** That the design allows. */
  readonly endings: readonly Ending[];
  /** A workflow that was reset lives a part of its life again: it may ask again what was not sent yet, and a person may answer twice. */
  readonly mayAskAgain: boolean;
  /** The call as the API showed it last; nothing when it never did. */
  readonly seen: Seen | undefined;
  /** Of this call alone. */
  readonly rows: readonly ServerRow[];
  /** Its legs in the ledger; absent where no workflow is terminated. */
  readonly ledger?: readonly LedgerLeg[];
}

/** Outcomes that say that their last leg was not sent. */
const unsent = ['unreachable', 'binding_lost', 'refused'];

/** @returns what is wrong, in words; nothing when it is as it must be */
export function wrongWith(facts: Facts): string[] {
  return [...twice(facts), ...ended(facts), ...denied(facts), ...onItsWay(facts), ...lostAnswers(facts), ...hidden(facts)];
}

/** Promise 1. */
function twice({ rows, id: invocation }: Facts): string[] {
  const seen = new Set<string>();
  return rows.flatMap(({ is, leg, id }) => {
    const row = `${is} of leg ${leg}`;
    const isRepeated = seen.has(row);
    seen.add(row);
    return [
      ...(isRepeated ? [`a second ${row}`] : []),
      ...(id === `${invocation}.${leg}` ? [] : [`leg ${leg} came under a foreign JSON-RPC id`]),
    ];
  });
}

function ended({ endings, seen }: Facts): string[] {
  const ending = endingOf(seen);
  return endings.some((each) => each === ending || ending.startsWith(`${each}/`))
    ? []
    : [`ended as ${ending}${about(seen)}, and not as ${endings.join(' or ')}`];
}

function endingOf(seen: Seen | undefined): Ending | string {
  return seen === undefined || seen.outcome === null ? 'open' : `${seen.outcome}/${seen.reason}`;
}

function about(seen: Seen | undefined): string {
  return seen === undefined ? ' (never shown)' : ` (${seen.status}, leg ${seen.leg}, round ${seen.round})`;
}

/** An effect that happened is never reported as not having happened. */
function denied({ seen, rows }: Facts): string[] {
  if (seen === undefined || seen.outcome === null || !unsent.includes(seen.outcome)) return [];
  return rows.some(({ leg }) => leg === seen.leg) ? [`${seen.outcome} at leg ${seen.leg}, which the server has seen`] : [];
}

/** A leg that ended so is nothing's end: another one may follow, or nothing of it was sent (src/reconcile/last-leg.ts). */
const endsNothing: readonly string[] = ['asked', 'turned_away', 'state_expired', 'never_sent'];

/**
 * `terminated` says that no leg was on its way: every leg that the ledger let begin has an answer there, which did not end the call, and
 * the server has seen no other.
 */
function onItsWay({ seen, rows, ledger = [] }: Facts): string[] {
  if (seen?.reason !== 'terminated') return [];
  const isSent = (leg: number): boolean => rows.some((row) => row.leg === leg);
  const begun = ledger.filter(({ leg, state }) => state !== 'revoked' || isSent(leg));
  const wrong = begun
    .filter(({ leg, is = '' }) => !endsNothing.includes(is) || (is === 'never_sent' && isSent(leg)))
    .map(({ leg, state, is }) => `terminated, while the ledger says of leg ${leg}: ${is ?? state}`);
  const unknown = rows.filter(({ leg }) => leg > seen.leg || !begun.some((each) => each.leg === leg));
  return [...wrong, ...unknown.map(({ is, leg }) => `terminated at leg ${seen.leg}, after the ${is} of leg ${leg}`)];
}

/**
 * Promise 3: what a person was told is accepted is what the server got, and nothing that nobody said. What was sent is not asked again, and
 * once it is asked again, no earlier answer is sent.
 */
function lostAnswers({ mayAskAgain, method, seen, given, rows }: Facts): string[] {
  const wrong: string[] = [];
  for (const round of [1, 2]) {
    const all: readonly Given[] = given.filter((each) => each.round === round);
    const accepted = all.filter(({ status }) => status === 200);
    if (accepted.length > 1 && !mayAskAgain) wrong.push(`${accepted.length} answers to round ${round} were accepted`);
    const sentAt = rows.find(({ leg }) => leg === round + 1)?.at ?? Infinity;
    if (accepted.some(({ at }) => at > sentAt)) wrong.push(`round ${round} was answered again after its answer was sent`);
    if (seen?.outcome !== 'completed') continue;
    const got = answersOf(method, seen.result)[round - 1];
    const possible = accepted.length > 0 && !mayAskAgain ? accepted : all;
    const sent = possible.findIndex(({ text }) => text === got);
    if (sent < 0 || possible.some(({ status }, index) => index > sent && status === 200))
      wrong.push(`the server got another answer to round ${round} than was accepted last`);
  }
  return wrong;
}

function hidden({ notShown }: Facts): string[] {
  return notShown.map(() => 'a question is open, and the call does not show it');
}
