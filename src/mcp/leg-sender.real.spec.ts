import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startExampleServer, type ExampleServer } from '../../examples/server/server.js';
import { Catalog, type ServerDescription } from './catalog.js';
import { LegSender, type LegRequest, type WireOutcome } from './leg-sender.js';

describe('a leg against a real server', () => {
  const sender = new LegSender();
  const catalog = new Catalog();
  let example: ExampleServer;
  let described: ServerDescription;

  beforeAll(async () => {
    example = await startExampleServer({ port: 0 });
    described = await catalog.describe({ id: 'example', url: example.url, key: 'k' }, 0);
  });
  afterAll(async () => {
    await sender.close();
    await catalog.close();
    await example.close();
  });

  function send(leg: number, method: LegRequest['method'], params: Record<string, unknown>): Promise<WireOutcome> {
    const tool = described.tools.get(String(params['name']));
    return sender.send({
      url: example.url,
      wireId: `inv_1.${leg}`,
      method,
      params,
      ...(tool !== undefined && { tool }),
      discover: described.discover,
      capabilities: { elicitation: { form: {} } },
      deadlineMs: 10_000,
      maxBytes: 64 * 1024,
    });
  }

  it('asks, and completes on the retry, by one POST each', async () => {
    const params = { name: 'deploy', arguments: { artifact: 'build-42' } };
    const asked = await send(1, 'tools/call', params);
    expect(asked).toMatchObject({ is: 'answered', result: { resultType: 'input_required' } });
    const { requestState } = (asked as Extract<WireOutcome, { is: 'answered' }>).result;
    const inputResponses = { target: { action: 'accept', content: { environment: 'staging', confirm: true } } };
    const done = await send(2, 'tools/call', { ...params, inputResponses, requestState });
    expect(done).toMatchObject({ result: { content: [{ text: 'build-42 was deployed to staging' }] } });
    const calls = example.effects().requests.filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ id }) => id)).toEqual(['inv_1.1', 'inv_1.2']);
    expect(example.effects().effects).toBe(1);
  });

  it.each([
    ['prompts/get', { name: 'briefing', arguments: { topic: 'Mars' } }],
    ['resources/read', { uri: 'secret://launch-plan' }],
  ] as const)('is asked by %s too', async (method, params) => {
    expect(await send(3, method, params)).toMatchObject({ is: 'answered', result: { resultType: 'input_required' } });
  });

  it('returns the refusal of a state that the server does not know as its error', async () => {
    const params = { name: 'report', arguments: { about: 'x' }, requestState: 'foreign' };
    expect(await send(4, 'tools/call', params)).toMatchObject({
      is: 'error',
      code: -32602,
      data: { reason: 'invalid_request_state' },
    });
  });
});
