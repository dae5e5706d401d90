/** One row of the table of hostile servers, and the words its rows are written in. */

import type { Parley } from '../harness/parley.js';
import type { Served } from './server.js';

export interface HostileCase extends Served {
  /** Also the name of the tool or prompt, and the end of the resource's URI. */
  readonly name: string;
  /** Default: `tools/call`. */
  readonly method?: 'tools/call' | 'prompts/get' | 'resources/read';
  /** Registration that is called; default: `hostile`, with the usual policy. */
  readonly server?: string;
  /** As the caller narrows it. */
  readonly policy?: object;
  readonly ends: Ending;
  /** Requests that must have reached the server, neither fewer nor more. */
  readonly legs: number;
  /** The call must have ended by then, counted from its start. */
  readonly endsWithinMs?: number;
  /** What the person does when they are asked. Absent: nobody may be asked. */
  readonly person?: Person;
  /** What leg 2 must carry beside the original params, member by member. */
  readonly echoes?: { readonly inputResponses?: object; readonly requestState?: string };
}

export interface Ending {
  readonly outcome: string;
  readonly reason: string;
  /** `problem.key`, where the gate names the request that it refused. */
  readonly key?: string;
  /** Part of `problem.detail`. */
  readonly detail?: object;
  /** Part of the result. */
  readonly result?: object;
}

/** One person's visit to one consent, and to whatever of the call comes after it. */
export type Person = (visit: Visit) => Promise<void>;

export interface Visit {
  readonly parley: Parley;
  readonly invocation: string;
  // As tools/rest.ts: looked at by tests alone, its shape is the API's contract.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly consent: any;
}

export const completed: Ending = { outcome: 'completed', reason: 'complete_result' };
export const indeterminate: Ending = { outcome: 'indeterminate', reason: 'leg_unknown' };
export const rejected = (httpStatus: number): Ending => ({ outcome: 'failed', reason: 'http_rejected', detail: { httpStatus } });
/** Of a call that waits for an operator longer than it may. */
export const outwaited: Ending = { outcome: 'expired', reason: 'call_deadline' };
export const misfit: Ending = { outcome: 'failed', reason: 'output_invalid' };

/** A round that reaches nobody: refused after one leg. */
export const refused = (name: string, reason: string, serves: HostileCase['serves'], key?: string): HostileCase => ({
  name,
  serves,
  ends: { outcome: 'refused', reason, ...(key !== undefined && { key }) },
  legs: 1,
});

export const ask = (inputRequests: unknown, more: object = {}) => ({ resultType: 'input_required', inputRequests, ...more });
export const elicit = (params: object) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message: 'please', ...params },
});
export const object = (properties: object) => ({ type: 'object', properties });
export const form = (requestedSchema: unknown, more: object = {}) => elicit({ requestedSchema, ...more });
/** A form that any honest server might send: one checkbox. */
export const checkbox = form(object({ ok: { type: 'boolean' } }));
export const yes = { action: 'accept', content: { ok: true } };
export const go = (request: unknown, more: object = {}) => ask({ go: request }, more);
