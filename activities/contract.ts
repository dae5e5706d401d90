/**
 * What the workflow may ask of the world. Arguments and results are one object each and live in histories: members may be added as
 * optional, never renamed. The workflow imports these types only.
 */

import type { RegisteredPart } from '../domain/binding.js';
import type { Answer, BoundCall, BoundConnection, LegReport, OpenableRound } from '../domain/call.js';
import type { ConsentStatus, Verdict } from '../domain/consent.js';
import type { ConsentId } from '../domain/ids.js';
import type { Ending } from '../domain/judge.js';
import type { WaitReason } from '../domain/outcome.js';

export interface LegInput {
  readonly call: BoundCall;
  readonly leg: number;
  /** 1, and one more after each send that provably never happened. */
  readonly try: number;
  /** Bound by the first leg that the server took, and compared on every later one. */
  readonly toolDigest?: string;
  /** This leg is known to have been begun, whatever the ledger says: a row that is not there was lost. */
  readonly wasBegun?: true;
  /** What the call has last seen of the ledger's clock; absent on leg 1, where the call's own counts. */
  readonly ledgerClock?: number;
  /** The one over which the server first asked; absent before that, and where there is none to keep. */
  readonly connection?: BoundConnection;
  /** The round this leg answers; absent on leg 1. */
  readonly round?: OpenableRound;
  /** Absent on leg 1 and after a state-only round. */
  readonly answer?: Answer;
}

/** What a leg's activity says in its heartbeats and its failure once the leg is begun, should the ledger forget it. */
export interface BegunLeg {
  readonly ledgerClock: number;
}

/** On the wire at most once (promise 1). Runs on the legs queue with a single attempt. */
export interface LegActivities {
  sendLeg(input: LegInput): Promise<LegReport>;
}

export interface HoldConnection {
  /** Id of the server, for whoever looks at the history. */
  readonly server: string;
  readonly connection: BoundConnection;
  /** Whose place is kept; absent in calls from before it existed. */
  readonly call?: Pick<BoundCall, 'tenant' | 'invocation'>;
}

/** What a worker that holds live connections does on its own queue, beside legs. */
export interface ConnectionActivities {
  /** Ends when the connection does, however that comes about; goes on for as long as it is there, or until it is cancelled. */
  holdConnection(input: HoldConnection): Promise<void>;
}

export type Resolution =
  | { readonly is: 'settled'; readonly report: LegReport }
  /** The leg was begun and may still come back: ask again after so long. */
  | { readonly is: 'running'; readonly waitMs: number };

export interface Step {
  readonly call: BoundCall;
  /** Grows with every published change of the call; an older one never overwrites a newer. */
  readonly sequence: number;
  readonly leg: number;
  /** The latest round that the server opened, state-only ones included; 0 before the first. */
  readonly round: number;
}

export interface OpenRound extends Step {
  readonly opened: OpenableRound;
  readonly consent: ConsentId;
  readonly openedAt: number;
  readonly deadlineAt: number;
  /** What the person answered when they were asked exactly this before; offered, never sent without them. */
  readonly earlier?: Answer;
}

export interface Opened {
  /** The leg that follows may have been sent, with an answer of a run that was cut off: nobody is asked. */
  readonly nextLeg?: 'begun';
  /** At which try the leg that follows goes on, where runs that were cut off have tried it in vain; absent for the first. */
  readonly nextTry?: number;
}

export interface Refreshed {
  readonly ledger: 'kept' | 'lost';
  /** Of the rest of the binding, by this worker's registry; absent when all of it holds. Then the round is not shown. */
  readonly lost?: RegisteredPart;
}

export interface CloseRound extends Step {
  readonly consent: ConsentId;
  readonly answer: Answer;
  readonly closedAt: number;
}

export interface AwaitServer extends Step {
  readonly opened: OpenableRound;
}

export interface AwaitResume extends Step {
  readonly reason: WaitReason;
  readonly deadlineAt: number;
}

export interface CloseInvocation extends Step {
  readonly ending: Ending;
  readonly closedAt: number;
  /** The consent that is still open, and what becomes of it. */
  readonly consent?: { readonly id: ConsentId; readonly status: Exclude<ConsentStatus, 'open'> };
  readonly cancelledBy?: string;
}

export interface RecordRefusals {
  readonly call: BoundCall;
  readonly refusals: readonly { readonly answer: Answer; readonly verdict: Verdict }[];
}

/** Idempotent, all of them, so they retry until the store is back and nothing is lost meanwhile. */
export interface CallActivities {
  /** Settles a leg whose activity failed: revokes it if it was never begun, else reads how it ended. */
  resolveLeg(input: LegInput): Promise<Resolution>;
  /** Recorded histories return nothing. */
  openRound(input: OpenRound): Promise<Opened | undefined>;
  closeRound(input: CloseRound): Promise<void>;
  /**
   * Shows an open round again, which the store may have lost. Where the store has lost the ledger as well, or the call's binding is lost, it cannot
   * go on.
   */
  refreshRound(input: OpenRound): Promise<Refreshed>;
  awaitServer(input: AwaitServer): Promise<void>;
  awaitResume(input: AwaitResume): Promise<void>;
  closeInvocation(input: CloseInvocation): Promise<void>;
  recordRefusals(input: RecordRefusals): Promise<void>;
}
