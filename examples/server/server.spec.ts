import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startExampleServer, type ExampleServer } from './server.js';

const elicitation = { form: {} };

describe('the example server', () => {
  let server: ExampleServer;
  let client: Client;

  beforeEach(async () => {
    server = await startExampleServer({ port: 0 });
    client = await connected(server.url);
  });
  afterEach(async () => {
    await client.close();
    await server.close();
  });

  async function ask(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
    return client.request({ method, params } as never, { allowInputRequired: true }) as never;
  }
  const call = (name: string, args: object, retry: object = {}) => ask('tools/call', { name, arguments: args, ...retry });
  const accept = (content: object) => ({ action: 'accept', content });

  it('lists its tools, and what each of them may do', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(['deploy', 'echo', 'onboard', 'report', 'transfer']);
    expect(tools.find(({ name }) => name === 'echo')?.outputSchema).toMatchObject({ type: 'object' });
    expect(tools.find(({ name }) => name === 'deploy')?.annotations?.destructiveHint).toBe(true);
  });

  it('deploys once a person has confirmed, and not before', async () => {
    const asked = await call('deploy', { artifact: 'build-42' });
    expect(asked).toMatchObject({ resultType: 'input_required', inputRequests: { target: { method: 'elicitation/create' } } });
    expect(server.effects().effects).toBe(0);
    const retry = {
      requestState: asked['requestState'],
      inputResponses: { target: accept({ environment: 'staging', confirm: true }) },
    };
    const done = await call('deploy', { artifact: 'build-42' }, retry);
    expect(done['content']).toEqual([{ type: 'text', text: 'build-42 was deployed to staging' }]);
    expect(server.effects()).toMatchObject({ effects: 1, byTool: { deploy: 1 } });
  });

  it.each(['decline', 'cancel'])('does nothing after a %s', async (action) => {
    const asked = await call('deploy', { artifact: 'build-42' });
    const done = await call(
      'deploy',
      { artifact: 'build-42' },
      { requestState: asked['requestState'], inputResponses: { target: { action } } },
    );
    expect(JSON.stringify(done['content'])).toContain('was not deployed');
    expect(server.effects().effects).toBe(0);
  });

  it('asks three times to onboard, again after a cancel, and acts once', async () => {
    const answers = [
      { person: accept({ name: 'Ada', email: 'ada@example.com', startsOn: '2027-01-04' }) },
      { job: accept({ team: 'build', level: 'l2', skills: ['ts'] }) },
      { terms: accept({ salary: 1, daysOff: 30, signed: true }) },
    ];
    let result = await call('onboard', { company: 'Acme' });
    result = await call(
      'onboard',
      { company: 'Acme' },
      { requestState: result['requestState'], inputResponses: { person: { action: 'cancel' } } },
    );
    for (const inputResponses of answers) {
      expect(Object.keys(result['inputRequests'] as object)).toEqual(Object.keys(inputResponses));
      result = await call('onboard', { company: 'Acme' }, { requestState: result['requestState'], inputResponses });
    }
    expect(JSON.stringify(result['content'])).toContain('ada@example.com');
    expect(server.effects()).toMatchObject({ effects: 1, byTool: { onboard: 1 } });
  });

  it('asks two things in one round to transfer, and needs both', async () => {
    const args = { amount: 5, to: 'Bob' };
    const asked = await call('transfer', args);
    expect(Object.keys(asked['inputRequests'] as object).sort()).toEqual(['approval', 'payer']);
    const answer = { payer: accept({ account: 'savings' }), approval: accept({ approve: true }) };
    const { approval: _, ...half } = answer;
    const again = await call('transfer', args, { requestState: asked['requestState'], inputResponses: half });
    expect(again['resultType']).toBe('input_required');
    await call('transfer', args, { requestState: again['requestState'], inputResponses: answer });
    expect(server.effects().byTool).toEqual({ transfer: 1 });
  });

  it('answers a report with a state alone twice, then completes', async () => {
    let result = await call('report', { about: 'Q3' });
    for (let poll = 0; poll < 2; poll++) {
      expect(result['inputRequests'] ?? {}).toEqual({});
      result = await call('report', { about: 'Q3' }, { requestState: result['requestState'] });
    }
    expect(result['content']).toEqual([{ type: 'text', text: 'report about Q3' }]);
    expect(
      server
        .effects()
        .requests.map(({ name, hasState }) => [name, hasState])
        .slice(-3),
    ).toEqual([
      ['report', false],
      ['report', true],
      ['report', true],
    ]);
  });

  it('asks for a prompt and for a resource too', async () => {
    const args = { name: 'briefing', arguments: { topic: 'Mars' } };
    const asked = await ask('prompts/get', args);
    const inputResponses = { reader: accept({ audience: 'engineers', pages: 2 }) };
    const prompt = await ask('prompts/get', { ...args, requestState: asked['requestState'], inputResponses });
    expect(JSON.stringify(prompt['messages'])).toContain('2 page(s) about Mars for engineers');

    const uri = 'secret://launch-plan';
    const question = await ask('resources/read', { uri });
    const access = { access: accept({ reason: 'audit', acknowledge: true }) };
    const plan = await ask('resources/read', { uri, requestState: question['requestState'], inputResponses: access });
    expect(JSON.stringify(plan['contents'])).toContain('Tuesday');
    expect(server.effects().byTool).toEqual({ briefing: 1, [uri]: 1 });
  });

  it('refuses a state made for other arguments (invalid_request_state)', async () => {
    const asked = await call('deploy', { artifact: 'build-42' });
    const retry = {
      requestState: asked['requestState'],
      inputResponses: { target: accept({ environment: 'staging', confirm: true }) },
    };
    await expect(call('deploy', { artifact: 'build-43' }, retry)).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'invalid_request_state' },
    });
    expect(server.effects().effects).toBe(0);
  });

  it('tells what it did, and which requests it saw, at /effects', async () => {
    await call('echo', { text: 'hi' });
    const report = await (await fetch(new URL('/effects', server.url))).json();
    expect(report).toEqual(server.effects());
    expect(report).toMatchObject({ effects: 0, byTool: {} });
  });
});

it('refuses a state past its time (invalid_request_state)', async () => {
  const server = await startExampleServer({ port: 0, stateTtlSeconds: 0 });
  const client = await connected(server.url);
  const params = { name: 'report', arguments: { about: 'Q3' } };
  const asked = (await client.request({ method: 'tools/call', params }, { allowInputRequired: true })) as Record<string, unknown>;
  const retry = { ...params, requestState: asked['requestState'] };
  await expect(client.request({ method: 'tools/call', params: retry }, { allowInputRequired: true })).rejects.toMatchObject({
    data: { reason: 'invalid_request_state' },
  });
  await client.close();
  await server.close();
});

it('demands its token when it has one', async () => {
  const server = await startExampleServer({ port: 0, token: 'sesame' });
  await expect(connected(server.url)).rejects.toThrow(/401|Unauthorized/i);
  const client = await connected(server.url, { authorization: 'Bearer sesame' });
  expect((await client.listTools()).tools).toHaveLength(5);
  await client.close();
  await server.close();
});

async function connected(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client(
    { name: 'spec', version: '1' },
    {
      capabilities: { elicitation },
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}
