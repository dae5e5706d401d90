/** Reading calls, listing them and cancelling them. No worker runs here: calls stay where the API, or a test in a worker's place, leaves them. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiInProcess, startApiInProcess } from '../../test/harness/api-in-process.js';
import { scriptedServer, type ScriptedServer, tool } from '../../test/harness/scripted-server.js';
import { Sealer } from '../crypto/sealer.js';
import { Ledger } from '../ledger/ledger.js';
import { type InvocationRecord, Records } from '../records/records.js';
import type { InvocationBody } from './invocations.contract.js';

let server: ScriptedServer;
let api: ApiInProcess;
let other: string;

beforeAll(async () => {
  server = await scriptedServer([tool('echo')], (_, reply) => reply.result({}));
  api = await startApiInProcess({
    servers: [{ id: 'scripted', title: 'scripted', transport: 'streamable-http', url: server.url }],
  });
  other = `Bearer ${await api.token({ sub: 'user-2' })}`;
});
afterAll(async () => {
  await api.close();
  await server.close();
});

const echo = { server: 'scripted', method: 'tools/call', params: { name: 'echo', arguments: { text: 'hello' } } };

function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return api.fetch(path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID(), ...headers },
  });
}
const bodyOf = async (reply: Response) => (await reply.json()) as InvocationBody & { code: string };
const started = async (headers: Record<string, string> = {}, body: object = echo) =>
  bodyOf(await post('/v1/invocations', JSON.stringify(body), headers));

/** As a worker publishes it. */
async function step(id: string, change: Partial<InvocationRecord>): Promise<void> {
  const records = api.app.get(Records);
  const record = await records.get('t1', id);
  await records.publish({ ...record!, updatedAt: Date.now(), sequence: 1, ...change });
}

describe('reading and cancelling', () => {
  it('shows a call to its subject and its requester, and to nobody else (invocation_unknown)', async () => {
    const agent = `Bearer ${await api.token({ sub: 'agent', actFor: ['*'] })}`;
    const stranger = `Bearer ${await api.token({ tenant: 't2' })}`;
    const { id } = await started({ authorization: agent }, { ...echo, subject: 'user-1' });
    const statusFor = async (authorization: string, path = '') =>
      (await api.fetch(`/v1/invocations/${id}${path}`, { headers: { authorization } })).status;
    expect(await statusFor(agent)).toBe(200);
    expect((await api.fetch(`/v1/invocations/${id}`)).status).toBe(200);
    for (const who of [other, stranger]) {
      expect(await statusFor(who)).toBe(404);
      expect(await statusFor(who, '/result')).toBe(404);
      expect((await post(`/v1/invocations/${id}/cancel`, '', { authorization: who })).status).toBe(404);
    }
    expect((await api.fetch('/v1/invocations/nonsense')).status).toBe(404);
  });

  it('lists my calls, newest first, page by page (cursor_invalid)', async () => {
    const authorization = `Bearer ${await api.token({ sub: 'lister' })}`;
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.unshift((await started({ authorization })).id);
    const page = async (query: string) =>
      (await (await api.fetch(`/v1/invocations?${query}`, { headers: { authorization } })).json()) as {
        items: InvocationBody[];
        next: string;
        code: string;
      };
    const first = await page('limit=2');
    const second = await page(`limit=2&cursor=${encodeURIComponent(first.next)}`);
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids);
    expect((await page('status=closed')).items).toEqual([]);
    expect(await page('cursor=bm9uc2Vuc2U')).toMatchObject({ code: 'cursor_invalid' });
    expect(await page('limit=0')).toMatchObject({ code: 'query_invalid' });
    expect(await page('page=1')).toMatchObject({ code: 'query_invalid' });
  });

  it('has no result while there is none (result_absent)', async () => {
    const { id } = await started();
    expect(await bodyOf(await api.fetch(`/v1/invocations/${id}/result`))).toMatchObject({ code: 'result_absent' });
  });

  it('reads a result that is too large for the history from the store', async () => {
    const { id } = await started();
    const ref = { tenant: 't1', invocation: id, leg: 1, try: 1 };
    const ledger = api.app.get(Ledger);
    await ledger.begin({ ...ref, server: 'scripted', token: 'a', position: await ledger.position(), ttlMs: 60_000 });
    const blob = api.app.get(Sealer).seal({ content: ['large'] }, { tenant: 't1', invocation: id, field: 'result.1' });
    const result = { in: 'store', leg: 1, bytes: 9 } as const;
    await ledger.finish({ ...ref, token: 'a' }, { outcome: { is: 'completed', result, isError: false } }, blob);
    await step(id, {
      status: 'closed',
      outcome: 'completed',
      reason: 'complete_result',
      result,
    });
    expect(await bodyOf(await api.fetch(`/v1/invocations/${id}`))).toMatchObject({
      result: { content: ['large'] },
      problem: null,
    });
  });

  it('says why a call failed', async () => {
    const { id } = await started();
    const problem = api.app
      .get(Sealer)
      .seal({ message: 'no', rpcCode: -32000 }, { tenant: 't1', invocation: id, field: 'problem' });
    await step(id, { status: 'closed', outcome: 'failed', reason: 'server_error', problem });
    expect(await bodyOf(await api.fetch(`/v1/invocations/${id}`))).toMatchObject({
      outcome: 'failed',
      reason: 'server_error',
      problem: { reason: 'server_error', key: null, detail: { message: 'no', rpcCode: -32000 } },
    });
  });

  it('accepts a cancellation, and says the same when it is repeated', async () => {
    const { id } = await started();
    const headers = { 'idempotency-key': randomUUID() };
    const reply = await post(`/v1/invocations/${id}/cancel`, '', headers);
    expect(reply.status).toBe(202);
    const first = await bodyOf(reply);
    expect(first.id).toBe(id);
    expect(await bodyOf(await post(`/v1/invocations/${id}/cancel`, '', headers))).toEqual(first);
  });

  it('answers 200 to the cancellation of a call that has ended', async () => {
    const { id } = await started();
    await step(id, { status: 'closed', outcome: 'cancelled', reason: 'cancel_requested' });
    expect((await post(`/v1/invocations/${id}/cancel`, '')).status).toBe(200);
  });
});
