/** What a call brings along reaches its server on every leg as it is, and what a server gives back is neither mixed up nor kept for others. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accept, answer, asked, outcome, start } from './harness/conversation.js';
import { startParley, type Parley } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type Call, type ScriptedServer } from './harness/scripted-server.js';

let parley: Parley;
let scripted: ScriptedServer;

const mebibyte = 1024 * 1024;
/** With its quotes exactly as large as the policy allows. */
const largest = 'x'.repeat(mebibyte - 2);
const confirm = asking('go', { ok: { type: 'boolean' } });
const yes = { go: { ok: true } };
const stateOf: Record<string, (call: Call) => string | undefined> = {
  twice: ({ params }) => (params['requestState'] === undefined ? 'one' : 'two'),
  large: () => largest,
  // Each call has a state of its own, and every retry is answered with what it brought.
  parallel: ({ params }) => `state of ${(params['arguments'] as { n: number }).n}`,
};
const legsOf = (id: string) => scripted.calls.filter((call) => call.id.startsWith(`${id}.`));
const declaredBy = ({ params }: Call): unknown =>
  (params['_meta'] as Record<string, unknown>)['io.modelcontextprotocol/clientCapabilities'];
const named = (names: readonly string[]) => names.map((name) => tool(name));

beforeAll(async () => {
  const pages = [named(['twice', 'large', 'parallel']), named(['middle']), named(['last'])];
  scripted = await scriptedServer(
    (cursor = '0') => ({ tools: pages[Number(cursor)] ?? [], ...(cursor !== '2' && { nextCursor: `${Number(cursor) + 1}` }) }),
    (call, reply) => {
      const { name, inputResponses, requestState } = call.params;
      const cached = { ttlMs: 3_600_000, cacheScope: 'public' };
      if (name === 'last') return reply.result(done);
      if (name === 'twice' ? requestState === 'two' : inputResponses !== undefined) {
        const contents = { contents: [], messages: [] };
        return reply.result({ ...done, ...(call.method === 'tools/call' ? {} : contents), ...cached });
      }
      const state = stateOf[String(name)]?.(call);
      const asked = { resultType: 'input_required', inputRequests: confirm, ...cached };
      return reply.result({ ...asked, ...(state !== undefined && { requestState: state }) });
    },
  );
  const roomy = {
    maxArgumentsBytes: 65_536,
    maxAnswerBytes: 131_072,
    gate: { maxStateBytes: mebibyte, maxRoundBytes: 131_072 },
  };
  parley = await startParley({
    servers: [
      { id: 'scripted', url: scripted.url },
      { id: 'roomy', url: scripted.url, policy: roomy },
    ],
  });
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
});

describe('what a call brings along', () => {
  it('is the same on every leg: the caller’s _meta, the capabilities, and a traceparent', async () => {
    const meta = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'vendor=value',
      baggage: 'user=ada,plan=pro',
      'example.com/ticket': { id: 7, words: ['e\u0301', '\u2028', '👩‍🚀'] },
    };
    const id = await start(parley, { server: 'scripted', params: { name: 'twice', arguments: {}, _meta: meta } });
    await accept(parley, await asked(parley, id, 1), yes);
    await accept(parley, await asked(parley, id, 2), yes);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 3 });

    const legs = legsOf(id);
    expect(legs).toHaveLength(3);
    for (const { params, headers } of legs) {
      expect(params['_meta']).toMatchObject(meta);
      expect(headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
    }
    const [first, ...retries] = legs.map(({ params }) => params['_meta']);
    expect(first).toMatchObject({ 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } } });
    for (const retry of retries) expect(retry).toEqual(first);
  });
});

describe('a call that nobody is there to answer', () => {
  it('says so to its server, and a question all the same reaches nobody [P5]', async () => {
    const wish = { server: 'scripted', method: 'tools/call', params: { name: 'twice' } };
    const id = await start(parley, { ...wish, policy: { allow: { form: false, url: false } } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'refused', reason: 'undeclared_kind', consent: null });
    const legs = legsOf(id);
    expect(legs.map(declaredBy)).toEqual([{}]);
  });

  it('cannot widen what the server’s policy allows [P5]', async () => {
    const wish = { server: 'scripted', method: 'tools/call', params: { name: 'last' } };
    const id = await start(parley, { ...wish, policy: { allow: { sampling: true, form: true } } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed' });
    const declared = { elicitation: { form: {}, url: {} } };
    expect(legsOf(id).map(declaredBy)).toEqual([declared]);
  });
});

describe('what a server gives back', () => {
  it.each([
    ['resources/read', { uri: 'config://app' }],
    ['prompts/get', { name: 'briefing' }],
  ])(
    'is never taken from a cache: %s twice is two requests each, whatever the server says of caching',
    async (method, params) => {
      for (let time = 1; time <= 2; time++) {
        const id = await start(parley, { server: 'scripted', method, params });
        await accept(parley, await asked(parley, id), yes);
        expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
        expect(legsOf(id)).toHaveLength(2);
      }
    },
  );

  it('may be a state of 1 MiB where the policy has room for it, and comes back exactly [P4]', async () => {
    const id = await start(parley, { server: 'roomy', tool: 'large' });
    await accept(parley, await asked(parley, id), yes);
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    // Not by toBe, which would print a mebibyte.
    expect(legsOf(id)[1]?.params['requestState'] === largest).toBe(true);
  });

  it('is refused with a state that is larger than that (state_too_large)', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'large' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'refused', reason: 'state_too_large' });
  });

  it('is not mixed up between 20 calls at the same time [P4]', { timeout: 120_000 }, async () => {
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const ids = await Promise.all(numbers.map((n) => start(parley, { server: 'scripted', tool: 'parallel', arguments: { n } })));
    const consents = await Promise.all(ids.map((id) => asked(parley, id, 1, 60_000)));
    const accepting = { go: { action: 'accept', content: { ok: true } } };
    for (const reply of await Promise.all(consents.map((consent) => answer(parley, consent, accepting))))
      expect([200, 202], reply.text).toContain(reply.status);
    for (const id of ids) expect(await outcome(parley, id, 60_000)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(ids.map((id) => legsOf(id).map(({ params }) => params['requestState']))).toEqual(
      numbers.map((n) => [undefined, `state of ${n}`]),
    );
  });
});

describe('a server whose tools take several pages', () => {
  it('is listed whole, and a tool of its last page can be called', async () => {
    const listed = await parley.api('/v1/servers/scripted/tools');
    expect(listed.body.items.map((item: any) => item.name)).toEqual(['twice', 'large', 'parallel', 'middle', 'last']);
    const id = await start(parley, { server: 'scripted', tool: 'last' });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 1 });
  });
});
