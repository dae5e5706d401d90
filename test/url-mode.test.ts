/** URL mode (design §6): a person is shown where a URL leads and decides, Parley fetches nothing, and accept is not yet completion. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, asked, auditOf, invocation, outcome, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type Call, type ScriptedServer } from './harness/scripted-server.js';

let parley: Parley;
let scripted: ScriptedServer;
let site: Server;
let url: string;
/** Requests that reached the URL: there must never be one. */
const fetched: string[] = [];
/** Whether the person has finished at the site, as the scripted server knows it. */
let isFinished = false;

const opening = (address: string) => ({
  signin: { method: 'elicitation/create', params: { mode: 'url', message: 'Sign in there', url: address } },
});
const capabilitiesOf = ({ params }: Call) => (params['_meta'] as any)['io.modelcontextprotocol/clientCapabilities'];
const legsOf = (id: string) => scripted.calls.filter((call) => call.id.startsWith(`${id}.`));

beforeAll(async () => {
  site = createServer((request, response) => {
    fetched.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/signin?session=1#here`;

  scripted = await scriptedServer([tool('link'), tool('both')], ({ params }, reply) => {
    const given = params['inputResponses'] as Record<string, { action: string }> | undefined;
    const ask = (inputRequests: object) => reply.result({ resultType: 'input_required', inputRequests, requestState: 's1' });
    if (given === undefined && params['requestState'] === undefined) {
      return ask({ ...opening(url), ...(params['name'] === 'both' && asking('form', { ok: { type: 'boolean' } })) });
    }
    const isWaiting = given === undefined || given['signin']?.action === 'accept';
    if (isWaiting && !isFinished) return reply.result({ resultType: 'input_required', requestState: 's2' });
    return reply.result(done);
  });
  parley = await startParley({
    servers: [
      { id: 'open', url: scripted.url, policy: { allowLoopbackUrls: true, maxPolls: 10_000 } },
      { id: 'strict', url: scripted.url },
      { id: 'forms', url: scripted.url, policy: { allow: { url: false }, allowLoopbackUrls: true } },
    ],
  });
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
  site?.close();
});

const opened = (id: string, input: string, as?: object) =>
  parley.api(`/v1/consents/${id}/opened`, { method: 'POST', body: { input }, ...(as !== undefined && { as }) });

describe('a URL', () => {
  it('is shown exact and with its host; accept is sent bare, the server is waited for, and nothing is fetched [P5]', async () => {
    isFinished = false;
    const id = await start(parley, { server: 'open', tool: 'link' });
    const consent = await asked(parley, id);
    const { host } = new URL(url);
    expect(consent.inputs).toEqual({ signin: { kind: 'url', message: 'Sign in there', url, host, notes: [] } });

    const reply = await answer(parley, consent, { signin: { action: 'accept' } });
    expect(reply.status, reply.text).toBe(200);
    await until(async () => (await invocation(parley, id)).status === 'awaiting_server');
    await until(() => legsOf(id).length >= 4);
    isFinished = true;
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed' });

    const legs = legsOf(id);
    expect(legs[1]?.params['inputResponses']).toEqual({ signin: { action: 'accept' } });
    expect(legs[1]?.params['requestState']).toBe('s1');
    for (const leg of legs.slice(2)) expect(leg.params).not.toHaveProperty('inputResponses');
    // The same on every leg, whatever was asked meanwhile.
    for (const leg of legs) expect(capabilitiesOf(leg)).toEqual({ elicitation: { form: {}, url: {} } });
    expect(fetched).toEqual([]);
  });

  it('leaves the call open to be cancelled while the server is waited for', async () => {
    isFinished = false;
    const id = await start(parley, { server: 'open', tool: 'link' });
    await answer(parley, await asked(parley, id), { signin: { action: 'accept' } });
    await until(async () => (await invocation(parley, id)).status === 'awaiting_server');
    await parley.api(`/v1/invocations/${id}/cancel`, { method: 'POST', idempotencyKey: id });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'cancelled' });
  });

  it.each(['decline', 'cancel'])('may be answered with %s', async (action) => {
    const id = await start(parley, { server: 'open', tool: 'link' });
    await answer(parley, await asked(parley, id), { signin: { action } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(legsOf(id)[1]?.params).toMatchObject({ inputResponses: { signin: { action } } });
  });

  it('takes no content with its answer, not even beside a form (content_unexpected)', async () => {
    const id = await start(parley, { server: 'open', tool: 'both' });
    const consent = await asked(parley, id);
    const form = { action: 'accept', content: { ok: true } };
    const refused = await answer(parley, consent, { signin: { action: 'accept', content: {} }, form });
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toMatchObject([{ pointer: '/responses/signin/content', code: 'content_unexpected' }]);
    isFinished = true;
    expect((await answer(parley, consent, { signin: { action: 'accept' }, form })).status).toBe(200);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(legsOf(id)[1]?.params).toMatchObject({ inputResponses: { signin: { action: 'accept' }, form } });
  });

  it('that was opened is put on the record once, and decides nothing [P5]', async () => {
    const id = await start(parley, { server: 'open', tool: 'link' });
    const consent = await asked(parley, id);
    const first = await opened(consent.id, 'signin');
    expect(first.status, first.text).toBe(200);
    expect(first.body).toMatchObject({ consent: consent.id, input: 'signin' });
    expect((await opened(consent.id, 'signin')).body).toEqual(first.body);
    expect((await opened(consent.id, 'other')).body.code).toBe('url_unknown');
    expect((await opened(consent.id, 'signin', { sub: 'user-2' })).body.code).toBe('consent_unknown');
    expect(await invocation(parley, id)).toMatchObject({ status: 'awaiting_input', leg: 1 });
    const events = (await auditOf(parley, id)).filter((event) => event.type === 'url_opened');
    expect(events).toMatchObject([{ consent: consent.id, input: 1, actor: 'user-1', viewDigest: consent.digest }]);

    await answer(parley, consent, { signin: { action: 'decline' } });
    await outcome(parley, id);
    expect((await opened(consent.id, 'signin')).body).toEqual(first.body);
  });

  it.each([
    ['strict', 'url_scheme_refused'],
    ['forms', 'undeclared_mode'],
  ])('reaches nobody where the policy of %s forbids it (%s) [P5]', async (server, reason) => {
    const id = await start(parley, { server, tool: 'link' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'refused', reason, problem: { key: 'signin' } });
    const declared = server === 'forms' ? { form: {} } : { form: {}, url: {} };
    expect(capabilitiesOf(legsOf(id)[0] as Call)).toEqual({ elicitation: declared });
  });
});
