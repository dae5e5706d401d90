/** What is seen of one call, in the store and in Temporal, when somebody asks whether the two agree. */

import type { ConsentId, InvocationId } from '../../domain/ids.js';
import type { InvocationRecord } from '../records/record.js';

/** How the call's workflow stands. Only `completed` has said how the call ended. */
export type WorkflowState =
  | { readonly is: 'running'; readonly status: string | undefined }
  | { readonly is: 'completed' }
  /** Terminated, timed out, failed: closed, and no code of it ran. */
  | { readonly is: 'ended' }
  /** Temporal knows no such workflow: never started, deleted, or past its retention. */
  | { readonly is: 'gone' };

export interface SeenConsent {
  readonly id: ConsentId;
  readonly invocation: InvocationId;
  readonly status: string;
  readonly round: number;
  readonly openedAt: number;
  readonly answeredAt?: number;
}

/** The ledger's row of the leg that the record is at. */
export interface SeenLeg {
  readonly state: string;
  /** Epoch milliseconds on the store's clock. */
  readonly begunAt: number;
}

export interface Seen {
  readonly tenant: string;
  readonly invocation: InvocationId;
  readonly record: InvocationRecord | null;
  /** Every consent of the call that is open, and the one that the record says is open, whatever became of it. */
  readonly consents: readonly SeenConsent[];
  readonly leg: SeenLeg | null;
  readonly workflow: WorkflowState;
  /** When the workflow was started, if Temporal knows. */
  readonly startedAt?: number;
}
