/**
 * The moments of a call at which a fault falls, in the order in which a call passes them. Every call of the matrix has two rounds: leg 1
 * opens round 1, leg 2 takes its answer along and opens round 2, leg 3 completes.
 */

export const methods = ['tools/call', 'prompts/get', 'resources/read'] as const;
export type CalledMethod = (typeof methods)[number];

/** Where Parley's own processes stop for the matrix, see holds-worker.ts and holds-api.ts. */
export type HoldPoint =
  | 'begin:before'
  | 'begin:after'
  | 'finish:before'
  | 'finish:after'
  | 'openRound:before'
  | 'closeRound:before'
  | 'verdict:before';

/** `number` is the leg's, or the round's; the verdict's is 0. */
export interface Hold {
  readonly point: HoldPoint;
  readonly number: number;
}

/** Where the MCP server stops in one leg: it has read the request; it has made the effect; it has sent half of its reply. */
export type WireHold = 'before_effect' | 'effect' | 'first_byte';

export interface Moment {
  /** Head of its column. */
  readonly head: string;
  /** What is so at this moment. */
  readonly meaning: string;
  /** How far the call has come: asked once, answered, or neither. */
  readonly answers: 'none' | 'in_flight' | 'accepted';
  /** Where Parley is stopped; every one of them. */
  readonly holds?: readonly Hold[];
  /** Where the MCP server is stopped. */
  readonly wire?: { readonly leg: number; readonly at: WireHold };
}

export const moments = {
  before_begun: {
    head: 'before BEGUN',
    meaning: 'leg 1 is about to be begun in the ledger',
    answers: 'none',
    holds: [{ point: 'begin:before', number: 1 }],
  },
  begun: {
    head: 'BEGUN',
    meaning: 'leg 1 is begun, and nothing is on the wire',
    answers: 'none',
    holds: [{ point: 'begin:after', number: 1 }],
  },
  wire_before: {
    head: 'wire, before the effect',
    meaning: 'the server has read leg 1 and done nothing yet',
    answers: 'none',
    wire: { leg: 1, at: 'before_effect' },
  },
  wire_effect: {
    head: 'wire, effect made',
    meaning: 'the server has made the effect of leg 1 and sent no byte of its reply',
    answers: 'none',
    wire: { leg: 1, at: 'effect' },
  },
  wire_reply: {
    head: 'wire, half a reply',
    meaning: 'half of the reply to leg 1 is sent',
    answers: 'none',
    wire: { leg: 1, at: 'first_byte' },
  },
  reply_received: {
    head: 'reply, not DONE',
    meaning: 'the reply to leg 1 is read, and not in the ledger',
    answers: 'none',
    holds: [{ point: 'finish:before', number: 1 }],
  },
  done: {
    head: 'DONE, not reported',
    meaning: 'leg 1 is done in the ledger, and its activity has not completed',
    answers: 'none',
    holds: [{ point: 'finish:after', number: 1 }],
  },
  parked: { head: 'parked', meaning: 'round 1 waits for a person', answers: 'none' },
  answer_signalled: {
    head: 'answer signalled',
    meaning:
      'Temporal has the answer to round 1; nobody has read the verdict, and the workflow has not recorded that it heard it',
    answers: 'in_flight',
    holds: [
      { point: 'verdict:before', number: 0 },
      { point: 'closeRound:before', number: 1 },
    ],
  },
  verdict_read: {
    head: 'verdict read',
    meaning: 'the person was told that the answer is accepted; leg 2 is about to be begun',
    answers: 'accepted',
    holds: [{ point: 'begin:before', number: 2 }],
  },
  retry_wire: {
    head: 'retry on the wire',
    meaning: 'the server has made the effect of leg 2, which carries the answer, and sent no byte of its reply',
    answers: 'accepted',
    wire: { leg: 2, at: 'effect' },
  },
  between_rounds: {
    head: 'between rounds',
    meaning: 'leg 2 is done, and round 2 is not shown to anyone yet',
    answers: 'accepted',
    holds: [{ point: 'openRound:before', number: 2 }],
  },
} as const satisfies Record<string, Moment>;

export type MomentName = keyof typeof moments;
export const momentNames = Object.keys(moments) as MomentName[];
