/** Every way through the workflow, as a call that takes it: what is recorded of it must replay for as long as such a call may be open. */

import { rm, writeFile } from 'node:fs/promises';
import { workflowId, type InvocationId } from '../../domain/ids.js';
import { refreshSignal } from '../../workflows/messages.js';
import { accept, answer, asked, auditOf, invocation, outcome, start } from '../harness/conversation.js';
import { until, type Parley, type WrittenServer } from '../harness/parley.js';
import { asking, done, scriptedServer, tool, type Call, type Reply, type ScriptedServer } from '../harness/scripted-server.js';
import { temporalClient } from '../harness/temporal.js';

const form = asking('go', { ok: { type: 'boolean' } });
const yes = { go: { ok: true } };
const question = { resultType: 'input_required', inputRequests: form, requestState: 'kept' };

export interface Place {
  readonly parley: Parley;
  /** Of the server `guarded`. */
  readonly tokenFile: string;
}

/** Takes one way, and returns the id of its call, which is over. */
export type Path = (place: Place) => Promise<string>;

const legOf = (call: Call): number => Number(call.id.split('.')[1]);

export async function pathServer(): Promise<ScriptedServer> {
  const names = ['completes', 'asks', 'asks_twice', 'polls', 'fails', 'is_silent', 'asks_again', 'forgets', 'misheads', 'guards'];
  return scriptedServer(
    names.map((name) => tool(name)),
    script,
  );
}

function script(call: Call, reply: Reply): void {
  const { name, ...params } = call.params as { name: string };
  const isRetry = 'requestState' in params;
  switch (name) {
    case 'asks':
      return reply.result(isRetry ? done : question);
    case 'asks_twice':
      return reply.result(legOf(call) < 3 ? question : done);
    case 'asks_again':
      return reply.result(question);
    case 'polls':
      return reply.result(legOf(call) < 3 ? { resultType: 'input_required', requestState: 'later' } : done);
    case 'fails':
      return reply.error(-32000, 'no');
    case 'is_silent':
      return;
    case 'forgets':
      if (!isRetry) return reply.result(question);
      if (legOf(call) === 2) return reply.error(-32602, 'expired', { reason: 'invalid_request_state' });
      return reply.result(done);
    case 'misheads': {
      if (legOf(call) > 1) return reply.result(done);
      const error = { code: -32020, message: 'header mismatch' };
      reply.raw.writeHead(400, { 'content-type': 'application/json' });
      return void reply.raw.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, error }));
    }
    case 'guards':
      if (call.headers.authorization !== 'Bearer good') return void reply.raw.writeHead(401).end('who?');
      return reply.result(done);
    default:
      return reply.result(done);
  }
}

export function serversAt(url: string, tokenFile: string): WrittenServer[] {
  return [
    { id: 'paths', url, policy: { legDeadline: 'PT2S', maxRounds: 2 } },
    { id: 'reasking', url, policy: { onStateExpired: 'reask' } },
    { id: 'guarded', url, credential: { file: tokenFile } },
    { id: 'absent', url: 'http://127.0.0.1:9/mcp' },
  ];
}

const calling = (parley: Parley, name: string, more: object = {}) => start(parley, { server: 'paths', tool: name, ...more });
const signalling = async (id: string): Promise<void> => {
  const temporal = await temporalClient();
  await temporal.workflow.getHandle(workflowId('t1', id as InvocationId)).signal(refreshSignal);
  await temporal.connection.close();
};

async function over(parley: Parley, id: string): Promise<string> {
  await outcome(parley, id, 60_000);
  return id;
}

const answered: Path = async ({ parley }) => {
  const id = await calling(parley, 'asks');
  await accept(parley, await asked(parley, id), yes);
  return over(parley, id);
};

export const paths: Readonly<Record<string, Path>> = {
  'completed at once': async ({ parley }) => over(parley, await calling(parley, 'completes')),
  failed: async ({ parley }) => over(parley, await calling(parley, 'fails')),
  unreachable: async ({ parley }) => over(parley, await calling(parley, 'completes', { server: 'absent' })),
  indeterminate: async ({ parley }) => over(parley, await calling(parley, 'is_silent')),
  polled: async ({ parley }) => over(parley, await calling(parley, 'polls')),
  answered,
  'answered twice, and late': async ({ parley }) => {
    const id = await calling(parley, 'asks_twice');
    const first = await asked(parley, id);
    await accept(parley, first, yes);
    const second = await asked(parley, id, 2);
    // To the first question, by somebody who was quicker than the API.
    const reply = await answer(parley, first, { go: { action: 'decline' } });
    if (reply.status === 200) throw new Error('a late answer counted');
    await accept(parley, second, yes);
    return over(parley, id);
  },
  'too many rounds': async ({ parley }) => {
    const id = await calling(parley, 'asks_again');
    for (const round of [1, 2]) await accept(parley, await asked(parley, id, round), yes);
    return over(parley, id);
  },
  expired: async ({ parley }) => over(parley, await calling(parley, 'asks', { policy: { roundDeadline: 'PT0.3S' } })),
  'cancelled while parked': async ({ parley }) => {
    const id = await calling(parley, 'asks');
    await asked(parley, id);
    await parley.api(`/v1/invocations/${id}/cancel`, { method: 'POST', idempotencyKey: id });
    return over(parley, id);
  },
  'withdrawn by an operator': async ({ parley }) => {
    const id = await calling(parley, 'asks');
    const { id: consent } = await asked(parley, id);
    const as = { sub: 'operator', scopes: ['calls:operate'] };
    await parley.api(`/v1/consents/${consent}/withdraw`, { method: 'POST', idempotencyKey: id, as });
    return over(parley, id);
  },
  'state expired': async ({ parley }) => {
    const id = await calling(parley, 'forgets');
    await accept(parley, await asked(parley, id), yes);
    return over(parley, id);
  },
  'asked afresh': async ({ parley }) => {
    const id = await calling(parley, 'forgets', { server: 'reasking' });
    for (const round of [1, 3]) await accept(parley, await asked(parley, id, round), yes);
    return over(parley, id);
  },
  'headers refused': async ({ parley }) => over(parley, await calling(parley, 'misheads')),
  'credential renewed': async ({ parley, tokenFile }) => {
    await writeFile(tokenFile, 'stale');
    const id = await calling(parley, 'guards', { server: 'guarded' });
    await until(async () => (await invocation(parley, id)).reason === 'reauthorization_required');
    await rm(tokenFile);
    await parley.api(`/v1/invocations/${id}/resume`, { method: 'POST', idempotencyKey: `${id} 1` });
    const waits = async () => (await auditOf(parley, id)).filter((event) => event.type === 'call_waiting').length;
    await until(async () => (await waits()) === 2);
    await writeFile(tokenFile, 'good');
    await parley.api(`/v1/invocations/${id}/resume`, { method: 'POST', idempotencyKey: `${id} 2` });
    return over(parley, id);
  },
  'refused by the gate': async ({ parley }) => {
    const nobody = { policy: { allow: { form: false, url: false } } };
    return over(parley, await calling(parley, 'asks', nobody));
  },
  'call deadline': async ({ parley }) => over(parley, await calling(parley, 'asks', { policy: { callDeadline: 'PT1S' } })),
  'held and released': async ({ parley }) => {
    const as = { sub: 'operator', scopes: ['servers:operate', 'calls:operate'] };
    await parley.api('/v1/holds/servers/paths', { method: 'PUT', as });
    const id = await calling(parley, 'completes');
    await until(async () => (await invocation(parley, id)).reason === 'server_held');
    await parley.api('/v1/holds/servers/paths', { method: 'DELETE', as });
    await parley.api(`/v1/invocations/${id}/resume`, { method: 'POST', idempotencyKey: id });
    return over(parley, id);
  },
  'cancelled on the wire': async ({ parley }) => {
    const id = await calling(parley, 'is_silent');
    await until(async () => (await auditOf(parley, id)).some((event) => event.type === 'leg_submitted'));
    await parley.api(`/v1/invocations/${id}/cancel`, { method: 'POST', idempotencyKey: id });
    return over(parley, id);
  },
  'shown again': async ({ parley }) => {
    const id = await calling(parley, 'asks');
    const consent = await asked(parley, id);
    await signalling(id);
    await accept(parley, consent, yes);
    return over(parley, id);
  },
};
