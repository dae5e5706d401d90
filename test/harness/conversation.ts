/** What an agent and a person do with a Parley, in the words of the REST API. */

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { SeenRequest } from '../../examples/server/effects.js';
import type { RestReply } from '../../tools/rest.js';
import type { Parley, Who } from './parley.js';
import { until } from './parley.js';

export interface CallWish {
  readonly server?: string;
  readonly method?: string;
  readonly params?: object;
  /** Short for `params: { name, arguments: {} }`. */
  readonly tool?: string;
  readonly arguments?: object;
  readonly policy?: object;
  readonly as?: Who;
  readonly subject?: string;
  readonly key?: string;
  readonly waitSeconds?: number;
}

/** POST /v1/invocations, whatever it answers. */
export async function post(parley: Parley, wish: CallWish): Promise<RestReply> {
  const { server = 'example', method = 'tools/call', policy, subject, waitSeconds } = wish;
  const params = wish.params ?? { name: wish.tool, arguments: wish.arguments ?? {} };
  return parley.api('/v1/invocations', {
    ...(wish.as !== undefined && { as: wish.as }),
    idempotencyKey: wish.key ?? randomUUID(),
    body: { server, method, params, ...(policy !== undefined && { policy }), ...(subject !== undefined && { subject }) },
    headers: waitSeconds === undefined ? {} : { prefer: `wait=${waitSeconds}` },
  });
}

/** @returns the id of a started invocation */
export async function start(parley: Parley, wish: CallWish): Promise<string> {
  const reply = await post(parley, wish);
  expect([200, 202], reply.text).toContain(reply.status);
  return reply.body.id;
}

export async function invocation(parley: Parley, id: string): Promise<any> {
  const reply = await parley.api(`/v1/invocations/${id}`);
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
}

/** The invocation as soon as it has an outcome. */
export async function outcome(parley: Parley, id: string, timeoutMs = 20_000): Promise<any> {
  return until(
    async () => {
      const body = await invocation(parley, id);
      return body.outcome === null ? undefined : body;
    },
    timeoutMs,
    `an outcome of ${id}`,
  );
}

/** The consent that asks for round `round` of a call, as soon as it is open. */
export async function asked(parley: Parley, id: string, round = 1, timeoutMs = 20_000): Promise<any> {
  return until(
    async () => {
      const body = await invocation(parley, id);
      if (body.outcome !== null) throw new Error(`${id} is over: ${body.outcome} (${body.reason})`);
      if (body.consent === null || body.round < round) return undefined;
      const reply = await parley.api(`/v1/consents/${body.consent}`);
      return reply.status === 200 && reply.body.round === round ? reply.body : undefined;
    },
    timeoutMs,
    `round ${round} of ${id}`,
  );
}

/** POST /v1/consents/{id}/answer, whatever it answers. */
export async function answer(
  parley: Parley,
  consent: { id: string; digest: string },
  responses: object,
  how: { readonly as?: Who; readonly key?: string; readonly digest?: string } = {},
): Promise<RestReply> {
  return parley.api(`/v1/consents/${consent.id}/answer`, {
    ...(how.as !== undefined && { as: how.as }),
    idempotencyKey: how.key ?? randomUUID(),
    body: { digest: how.digest ?? consent.digest, responses },
  });
}

/** Answers a round with an accept of every form, and expects that it counts: a verdict that is pending is asked for again. */
export async function accept(parley: Parley, consent: any, contents: Record<string, object>): Promise<RestReply> {
  const key = randomUUID();
  const reply = await until(
    async () => {
      const latest = await answer(parley, consent, accepting(contents), { key });
      return latest.status === 202 ? undefined : latest;
    },
    30_000,
    `a verdict on ${consent.id}`,
  );
  expect(reply.status, reply.text).toBe(200);
  expect(reply.body.verdict).toBe('accepted');
  return reply;
}

/** As {@link accept}, where no worker may be quick enough to say so: the answer is stored all the same. */
export async function acceptLater(parley: Parley, consent: any, contents: Record<string, object>): Promise<void> {
  const reply = await answer(parley, consent, accepting(contents));
  expect([200, 202], reply.text).toContain(reply.status);
}

function accepting(contents: Record<string, object>): object {
  return Object.fromEntries(Object.entries(contents).map(([key, content]) => [key, { action: 'accept', content }]));
}

/** Every audit event of one call, oldest first. */
export async function auditOf(parley: Parley, id: string): Promise<any[]> {
  const events: any[] = [];
  for (let after = ''; ;) {
    const reply = await parley.api(`/v1/audit?limit=100${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`);
    expect(reply.status, reply.text).toBe(200);
    events.push(...reply.body.items);
    if (reply.body.next === null) return events.filter((event) => event.invocation === id);
    after = reply.body.next;
  }
}

/** The requests of one call that the example server got, in order. */
export function exampleLegs(parley: Parley, id: string): readonly SeenRequest[] {
  return parley.example.effects().requests.filter((request) => String(request.id).startsWith(id));
}

export const deployTo = (environment: string) => ({ target: { environment, confirm: true } });
