/** What the SDK's example servers do (test/harness/sdk-stories.ts), called through Parley: as JSON, as a stream, and as the SDK chooses. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SdkServer } from '../examples/sdk-host.js';
import { accept, answer, asked, outcome, start } from './harness/conversation.js';
import { startParley, until, type Parley } from './harness/parley.js';
import { appConfig, startSdkStories } from './harness/sdk-stories.js';

const modes = ['auto', 'json', 'sse'] as const;
let parley: Parley;
const servers: Record<string, SdkServer> = {};

const legsOf = (server: string, id: string) => servers[server]!.exchanges.filter((each) => each.id.startsWith(`${id}.`));

beforeAll(async () => {
  for (const mode of modes) servers[mode] = await startSdkStories(600, mode);
  servers['forgetful'] = await startSdkStories(1, 'auto');
  parley = await startParley({ servers: Object.entries(servers).map(([id, { url }]) => ({ id, url })) });
});
afterAll(async () => {
  await parley?.stop();
  await Promise.all(Object.values(servers).map((server) => server.close()));
});

describe.each(modes)('a server that answers in mode %s', (server) => {
  it('is given a form and then a URL, each with its own signed state [P4]', async () => {
    const id = await start(parley, { server, tool: 'deploy', arguments: { env: 'staging' } });
    await accept(parley, await asked(parley, id, 1), { confirm: { confirm: true } });
    const consent = await asked(parley, id, 2);
    expect(consent.inputs.auth).toMatchObject({ kind: 'url', url: 'https://example.com/auth?env=staging', host: 'example.com' });
    expect((await answer(parley, consent, { auth: { action: 'accept' } })).status).toBe(200);
    const closed = await outcome(parley, id);
    expect(closed).toMatchObject({ outcome: 'completed', leg: 3, round: 2 });
    expect(closed.result.content[0].text).toBe('deployed to staging');

    const legs = legsOf(server, id);
    const given = await Promise.all(legs.map(async ({ reply }) => (await reply).result?.['requestState']));
    expect(legs.map(({ params }) => params['requestState'])).toEqual([undefined, given[0], given[1]]);
    expect(new Set(given).size).toBe(3);
  });

  it('is given a form that was made from a schema of its own', async () => {
    const id = await start(parley, { server, tool: 'register_user' });
    const consent = await asked(parley, id);
    expect(consent.inputs.form.fields.map((field: any) => [field.name, field.type, field.required])).toEqual([
      ['username', 'string', true],
      ['email', 'string', true],
      ['plan', 'select', false],
    ]);
    await accept(parley, consent, { form: { username: 'ada', email: 'ada@example.com', plan: 'pro' } });
    expect((await outcome(parley, id)).result.content[0].text).toBe('registered ada <ada@example.com> (pro)');
  });

  it('may tell of its progress before it asks and before it is done', async () => {
    const params = { name: 'countdown', arguments: { n: 100 }, _meta: { progressToken: 'mine' } };
    const id = await start(parley, { server, params });
    await accept(parley, await asked(parley, id), { confirm: { confirm: true } });
    const closed = await outcome(parley, id);
    expect(closed).toMatchObject({ outcome: 'completed', leg: 2, result: { structuredContent: { completed: 100 } } });
    expect(legsOf(server, id)).toHaveLength(2);
  });

  it('is asked anew each time for a resource that it says may be cached', async () => {
    const read = { server, method: 'resources/read', params: { uri: appConfig } };
    for (let time = 1; time <= 2; time++) {
      const id = await start(parley, read);
      await accept(parley, await asked(parley, id), { confirm: { confirm: true } });
      const { result } = await outcome(parley, id);
      expect(result).toMatchObject({ ttlMs: 3_600_000, contents: [{ text: 'feature=on' }] });
      expect(legsOf(server, id)).toHaveLength(2);
    }
  });
});

it('a state that is older than its server allows ends the call (state_expired), after exactly one more request', async () => {
  const id = await start(parley, { server: 'forgetful', tool: 'deploy', arguments: { env: 'staging' } });
  const consent = await asked(parley, id);
  const askedAt = Date.now();
  await until(async () => Date.now() - askedAt > 2_500, 20_000, 'the end of the state’s lifetime');
  await accept(parley, consent, { confirm: { confirm: true } });
  expect(await outcome(parley, id)).toMatchObject({ outcome: 'state_expired', reason: 'request_state_refused' });
  expect(legsOf('forgetful', id)).toHaveLength(2);
});
