import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aRecord } from '../../test/harness/a-record.js';
import { type ApiInProcess, startApiInProcess } from '../../test/harness/api-in-process.js';
import { scriptedServer, type ScriptedServer, tool } from '../../test/harness/scripted-server.js';
import type { ConsentRecord, ConsentStatus, ConsentView } from '../../domain/consent.js';
import { digestOf } from '../../domain/digest.js';
import { type ConsentId, consentIdFrom, type InvocationId } from '../../domain/ids.js';
import { Audit } from '../audit/audit.js';
import { Receipts } from '../crypto/receipts.js';
import { Sealer } from '../crypto/sealer.js';
import { type OpenConsent, Records } from '../records/records.js';

/** No worker runs here: a consent is opened as the worker would, and its workflow never speaks. */
let server: ScriptedServer;
let api: ApiInProcess;

beforeAll(async () => {
  server = await scriptedServer([tool('deploy')], (_, reply) => reply.result({}));
  api = await startApiInProcess({
    servers: [
      { id: 'scripted', title: 'Scripted', transport: 'streamable-http', url: server.url, policy: { maxAnswerBytes: 2048 } },
    ],
  });
});
afterAll(async () => {
  await api.close();
  await server.close();
});

const view = {
  server: { id: 'scripted', title: 'Scripted', origin: 'http://127.0.0.1' },
  call: { method: 'tools/call', name: 'deploy', arguments: { artifact: 'build-42' } },
  effect: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  inputs: [
    {
      key: 'target',
      kind: 'form',
      message: 'Where to?',
      fields: [
        {
          name: 'environment',
          type: 'select',
          required: true,
          options: [
            { value: 'staging', title: 'Staging' },
            { value: 'prod', title: 'Production' },
          ],
        },
        { name: 'replicas', type: 'integer', required: false, minimum: 1, maximum: 9 },
      ],
    },
    { key: '__proto__', kind: 'form', message: 'Sure?', fields: [{ name: 'confirm', type: 'boolean', required: true }] },
  ],
} satisfies ConsentView;
const digest = digestOf(view);
const good = `{"digest":"${digest}","responses":{"target":{"action":"accept","content":{"environment":"staging"}},"__proto__":{"action":"accept","content":{"confirm":true}}}}`;

const records = () => api.app.get(Records);

function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  const usual = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  return api.fetch(path, { method: 'POST', body, headers: { ...usual, ...headers } });
}

/** A started call with an open consent. */
async function open(more: Partial<ConsentRecord> = {}): Promise<OpenConsent> {
  const call = { server: 'scripted', method: 'tools/call', params: { name: 'deploy', arguments: { artifact: 'build-42' } } };
  const { id } = (await (await post('/v1/invocations', JSON.stringify(call))).json()) as { id: InvocationId };
  const invocation = id;
  const record: OpenConsent = {
    id: consentIdFrom(randomUUID()),
    tenant: 't1',
    invocation,
    subject: 'user-1',
    server: 'scripted',
    method: 'tools/call',
    name: 'deploy',
    round: 1,
    openedAt: Date.now(),
    deadlineAt: Date.now() + 60_000,
    paramsDigest: digestOf(call.params),
    viewDigest: digest,
    view: api.app.get(Sealer).seal(view, { tenant: 't1', invocation, field: 'view.1' }),
    ...more,
    status: 'open',
  };
  await ask(record);
  return record;
}

/** The step of a call that asks. */
async function ask(consent: OpenConsent): Promise<void> {
  const { id, invocation } = consent;
  const record = (await records().get('t1', invocation)) ?? aRecord({ id: invocation });
  await records().publish({ ...record, sequence: record.sequence + 1, status: 'awaiting_input', consent: id }, consent);
}

const answer = (id: ConsentId, body = good, headers: Record<string, string> = {}) =>
  post(`/v1/consents/${id}/answer`, body, headers);
// oxlint-disable-next-line typescript/no-explicit-any
const bodyOf = async (reply: Response) => (await reply.json()) as any;

async function refusalOf(consent: ConsentId): Promise<string | undefined> {
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<Audit['list']>> = await api.app
      .get(Audit)
      .list('t1', { limit: 100, ...(after !== null && { after }) });
    const found = page.items.find((entry) => entry.type === 'answer_refused' && entry.consent === consent);
    if (found !== undefined || page.next === null) return found?.code;
    after = page.next;
  }
}

describe('the inbox', () => {
  it('shows what is asked, exactly and under the server’s own keys', async () => {
    const record = await open();
    const reply = await api.fetch(`/v1/consents/${record.id}`);
    const text = await reply.text();
    expect(JSON.parse(text)).toMatchObject({
      id: record.id,
      invocation: record.invocation,
      status: 'open',
      round: 1,
      digest,
      server: view.server,
      call: view.call,
      effect: view.effect,
      inputs: { target: { kind: 'form', message: 'Where to?', fields: view.inputs[0]?.fields } },
      deadline: new Date(record.deadlineAt).toISOString(),
    });
    expect(text).toContain('"__proto__":{"kind":"form","message":"Sure?"');
  });

  it('lists the open ones, newest first; a closed one is shown at its address only', async () => {
    const first = await open();
    const second = await open({ openedAt: Date.now() + 1 });
    const ids = async () =>
      (await bodyOf(await api.fetch('/v1/consents?limit=100'))).items.map((each: { id: string }) => each.id);
    expect((await ids()).slice(0, 2)).toEqual([second.id, first.id]);
    await records().closeConsent('t1', second.id, 'withdrawn', Date.now());
    expect(await ids()).not.toContain(second.id);
    expect(await bodyOf(await api.fetch(`/v1/consents/${second.id}`))).toMatchObject({ status: 'withdrawn' });
  });

  it('is nobody else’s (consent_unknown)', async () => {
    const { id } = await open();
    for (const wish of [{ sub: 'user-2' }, { tenant: 't2' }]) {
      const headers = { authorization: `Bearer ${await api.token(wish)}` };
      expect(await bodyOf(await api.fetch(`/v1/consents/${id}`, { headers }))).toMatchObject({ code: 'consent_unknown' });
      expect((await bodyOf(await api.fetch('/v1/consents', { headers }))).items).toEqual([]);
    }
    expect((await api.fetch('/v1/consents/nonsense')).status).toBe(404);
  });

  it('can be read but not decided without the scope (scope_missing)', async () => {
    const { id } = await open();
    const headers = { authorization: `Bearer ${await api.token({ scopes: ['consents:read'] })}` };
    expect((await api.fetch(`/v1/consents/${id}`, { headers })).status).toBe(200);
    expect(await bodyOf(await answer(id, good, headers))).toMatchObject({ code: 'scope_missing' });
  });
});

describe('an answer', () => {
  it('is stored and pending while no worker is up, with a receipt that stands', async () => {
    const record = await open();
    const reply = await answer(record.id, good, { 'idempotency-key': 'k1' });
    expect(reply.status).toBe(202);
    const body = await bodyOf(reply);
    expect(body).toMatchObject({ verdict: 'pending', consent: record.id, invocation: record.invocation, answer: 'k1' });
    expect(await api.app.get(Receipts).verify(body.receipt.jws)).toMatchObject({
      id: body.receipt.id,
      tenant: 't1',
      invocation: record.invocation,
      consent: record.id,
      round: 1,
      subject: 'user-1',
      decision: 'accept',
      viewDigest: digest,
      paramsDigest: record.paramsDigest,
    });
    expect(await bodyOf(await api.fetch(`/v1/receipts/${body.receipt.id}`))).toEqual({
      id: body.receipt.id,
      jws: body.receipt.jws,
      subject: 'user-1',
      invocation: record.invocation,
    });
  });

  it('has the very same receipt when it is repeated', async () => {
    const { id } = await open();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await bodyOf(await answer(id, good, headers));
    expect(await bodyOf(await answer(id, good, headers))).toEqual(first);
  });

  it('is another one with another body (idempotency_key_reused)', async () => {
    const { id } = await open();
    const headers = { 'idempotency-key': randomUUID() };
    await answer(id, good, headers);
    const reply = await answer(id, good.replace('staging', 'prod'), headers);
    expect([reply.status, (await bodyOf(reply)).code]).toEqual([422, 'idempotency_key_reused']);
  });

  it.each<[Exclude<ConsentStatus, 'open'>, number, string]>([
    ['answered', 409, 'consent_answered'],
    ['withdrawn', 409, 'consent_withdrawn'],
    ['expired', 410, 'consent_expired'],
  ])('to a consent that is %s is refused and recorded (%i %s)', async (status, http, code) => {
    const { id } = await open();
    await records().closeConsent('t1', id, status, Date.now());
    for (const body of [good, JSON.stringify({ digest: 'sha256:other', responses: {} })]) {
      const reply = await answer(id, body);
      expect([reply.status, (await bodyOf(reply)).code]).toEqual([http, code]);
    }
    expect(await refusalOf(id)).toBe(code);
  });

  it('after the deadline is refused (consent_expired)', async () => {
    const { id } = await open({ deadlineAt: Date.now() - 1 });
    expect((await answer(id)).status).toBe(410);
    expect(await refusalOf(id)).toBe('consent_expired');
  });

  it('from another subject is refused as unknown, and recorded as what it is (answer_foreign)', async () => {
    const { id } = await open();
    const reply = await answer(id, good, { authorization: `Bearer ${await api.token({ sub: 'user-2' })}` });
    expect([reply.status, (await bodyOf(reply)).code]).toEqual([404, 'consent_unknown']);
    expect(await refusalOf(id)).toBe('answer_foreign');
  });

  it('to nothing is refused and recorded (consent_unknown)', async () => {
    const id = consentIdFrom(randomUUID());
    expect((await answer(id)).status).toBe(404);
    expect(await refusalOf(id)).toBe('consent_unknown');
  });

  it('to something else than what was shown is refused and recorded (answer_mismatch)', async () => {
    const { id } = await open();
    const reply = await answer(id, good.replace(digest, 'sha256:other'));
    expect([reply.status, (await bodyOf(reply)).code]).toEqual([409, 'answer_mismatch']);
    expect(await refusalOf(id)).toBe('answer_mismatch');
  });

  it('that does not fit gets a pointer per field, and may be corrected under the same key (answer_invalid)', async () => {
    const { id } = await open();
    const headers = { 'idempotency-key': randomUUID() };
    const wrong = { target: { action: 'accept', content: { environment: 'moon', replicas: 1.5, more: 1 } } };
    const reply = await answer(id, JSON.stringify({ digest, responses: wrong }), headers);
    expect(reply.status).toBe(422);
    const problem = await bodyOf(reply);
    expect(problem.code).toBe('answer_invalid');
    const pointers = problem.errors.map((each: { pointer: string }) => each.pointer);
    for (const name of ['environment', 'replicas', 'more']) expect(pointers).toContain(`/responses/target/content/${name}`);
    expect(pointers).toContain('/responses/__proto__');
    expect((await answer(id, good, headers)).status).toBe(202);
  });

  it.each([
    ['no digest', '{"responses":{}}', 'body_invalid'],
    ['no responses', `{"digest":"${digest}"}`, 'body_invalid'],
    ['an unknown member', `{"digest":"${digest}","responses":{},"actor":"user-2"}`, 'body_invalid'],
    ['half a surrogate pair', good.replace('staging', '\\ud800'), 'text_not_unicode'],
    [
      'too much',
      JSON.stringify({ digest, responses: { target: { action: 'accept', content: { environment: 'x'.repeat(4096) } } } }),
      'answer_invalid',
    ],
  ])('with %s is refused (%s)', async (_, body, code) => {
    const { id } = await open();
    expect((await bodyOf(await answer(id, body))).code).toBe(code);
  });

  it('to a call that has ended is refused, whatever the inbox still says (consent_withdrawn)', async () => {
    const record = await open();
    const orphan = { ...record, id: consentIdFrom(randomUUID()), invocation: `inv_${'0'.repeat(32)}` as InvocationId };
    const sealed = api.app.get(Sealer).seal(view, { tenant: 't1', invocation: orphan.invocation, field: 'view.1' });
    await ask({ ...orphan, view: sealed });
    const reply = await answer(orphan.id);
    expect([reply.status, (await bodyOf(reply)).code]).toEqual([409, 'consent_withdrawn']);
    expect(await refusalOf(orphan.id)).toBe('consent_withdrawn');
  });
});

describe('evidence', () => {
  it('shows a receipt to who decided and to auditors of the tenant, to nobody else (receipt_unknown)', async () => {
    const { id } = await open();
    const { receipt } = await bodyOf(await answer(id));
    const statusFor = async (wish: object) =>
      (await api.fetch(`/v1/receipts/${receipt.id}`, { headers: { authorization: `Bearer ${await api.token(wish)}` } })).status;
    expect(await statusFor({ scopes: ['consents:read'] })).toBe(200);
    expect(await statusFor({ sub: 'auditor', scopes: ['audit:read'] })).toBe(200);
    expect(await statusFor({ sub: 'user-2', scopes: ['consents:read'] })).toBe(404);
    expect(await statusFor({ tenant: 't2', scopes: ['audit:read'] })).toBe(404);
  });

  it('shows the audit record of the own tenant, page by page, without contents', async () => {
    await open();
    const first = await bodyOf(await api.fetch('/v1/audit?limit=1'));
    expect(first.items).toHaveLength(1);
    const second = await bodyOf(await api.fetch(`/v1/audit?limit=1&after=${first.next}`));
    expect(second.items[0].id).not.toBe(first.items[0].id);
    const all = await (await api.fetch('/v1/audit?limit=100')).text();
    expect(all).not.toContain('build-42');
    const stranger = { authorization: `Bearer ${await api.token({ tenant: 't3' })}` };
    expect((await bodyOf(await api.fetch('/v1/audit', { headers: stranger }))).items).toEqual([]);
    const caller = { authorization: `Bearer ${await api.token({ scopes: ['calls:write'] })}` };
    expect((await api.fetch('/v1/audit', { headers: caller })).status).toBe(403);
  });
});
