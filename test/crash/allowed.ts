/**
 * What a cell of the matrix may end as, derived from docs/words.md §3 and §5. `completed` where nothing is said: as if nothing had happened.
 */

import { momentNames, type MomentName } from './moments.js';

export const faultNames = [
  'worker_killed',
  'api_killed',
  'both_killed',
  'worker_drained',
  'worker_stopped',
  'temporal_restarted',
  'temporal_away',
  'redis_restarted',
  'redis_away',
  'redis_full',
  'redis_wiped',
  'mcp_killed',
  'mcp_reset',
  'reset_to_first',
  'reset_to_last',
  'reset_to_each',
  'activity_paused',
  'activity_paused_killed',
  'activity_reset',
  'activity_options',
  'terminated',
  'terminated_killed',
  'double_click',
  'clock_ahead',
  'clock_behind',
] as const;
export type FaultName = (typeof faultNames)[number];

/** An outcome, with its reason where only one will do. */
export type Ending =
  | 'completed'
  | 'indeterminate/leg_unknown'
  | 'refused/audit_unavailable'
  | 'binding_lost/ledger_lost'
  | 'cancelled/terminated';

type Row = Partial<Record<MomentName, readonly Ending[]>>;

const completed: Ending = 'completed';
const cancelled: Ending = 'cancelled/terminated';
const unknown: Ending = 'indeterminate/leg_unknown';

const onTheWire: readonly MomentName[] = ['wire_before', 'wire_effect', 'wire_reply', 'retry_wire'];
/** The leg is begun in the ledger, and not done. */
const begunOnly: readonly MomentName[] = ['begun', ...onTheWire, 'reply_received'];
/** The call's first workflow task is complete and no other: there is no later one to reset it to. */
const inFirstTask: readonly MomentName[] = [
  'before_begun',
  'begun',
  'wire_before',
  'wire_effect',
  'wire_reply',
  'reply_received',
  'done',
];
/** An activity `sendLeg` is under way. */
const inFlight: readonly MomentName[] = ['before_begun', ...begunOnly, 'done', 'verdict_read'];

function at(names: readonly MomentName[], ...endings: Ending[]): Row {
  return Object.fromEntries(names.map((name) => [name, endings]));
}

/** Begun and not done, and nobody left who knows: the ledger says so, and Parley stops. */
const lostWithTheWorker = at(begunOnly, unknown);
/** The connection is gone: the server may have run the leg. */
const lostWithTheConnection = at(onTheWire, unknown);
/** The audit record may be away for longer than the send of a leg waits for it: then nothing is sent. */
const storeAway = at(['begun'], completed, 'refused/audit_unavailable');
/** The leg is dispatched a second time. Whoever comes second finds the row taken: it reads how the leg ended, or that nobody knows yet. */
const dispatchedTwice = at(['before_begun', 'verdict_read', ...begunOnly], completed, unknown);

const rows: Readonly<Record<FaultName, Row>> = {
  worker_killed: lostWithTheWorker,
  api_killed: {},
  both_killed: lostWithTheWorker,
  worker_drained: {},
  // Who was stopped for longer than the leg may take finds its time over, or the workflow has given the leg up.
  worker_stopped: at(begunOnly, completed, unknown),
  temporal_restarted: {},
  temporal_away: {},
  redis_restarted: storeAway,
  redis_away: storeAway,
  redis_full: storeAway,
  redis_wiped: { ...at(momentNames, 'binding_lost/ledger_lost'), ...at(begunOnly, unknown) },
  mcp_killed: lostWithTheConnection,
  mcp_reset: lostWithTheConnection,
  reset_to_first: dispatchedTwice,
  reset_to_last: dispatchedTwice,
  reset_to_each: dispatchedTwice,
  activity_paused: {},
  activity_paused_killed: lostWithTheWorker,
  activity_reset: {},
  activity_options: lostWithTheWorker,
  // The ledger knows of its last leg, which is no complete one yet: a question or nothing is the end that the operator made.
  terminated: { ...at(momentNames, cancelled), ...at(begunOnly, cancelled, unknown) },
  terminated_killed: { ...at(momentNames, cancelled), ...lostWithTheWorker },
  double_click: {},
  clock_ahead: {},
  clock_behind: {},
};

const toLaterTask: readonly FaultName[] = ['reset_to_last', 'reset_to_each'];

/** @returns nothing where the fault cannot fall at that moment */
export function allowed(fault: FaultName, moment: MomentName): readonly Ending[] | undefined {
  if (fault.startsWith('activity_') && !inFlight.includes(moment)) return undefined;
  if (toLaterTask.includes(fault) && inFirstTask.includes(moment)) return undefined;
  return rows[fault][moment] ?? [completed];
}

/** See `Facts.mayAskAgain`. */
export function mayAskAgain(fault: FaultName): boolean {
  return fault.startsWith('reset_');
}
