/**
 * Promise 4, and what holds for all content: one canary in the arguments, the answer, the result, the state and an error, and then a
 * search of everything that is stored, logged or returned (design §7).
 */

import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import { accept, asked, auditOf, invocation, outcome, start } from './harness/conversation.js';
import { startParley, type Parley } from './harness/parley.js';
import { asking, scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';
import { temporalClient } from './harness/temporal.js';

const canary = {
  argument: 'canary-argument-7f3a',
  question: 'canary-question-91bc',
  answer: 'canary-answer-c2d4',
  state: 'canary-state-55e0',
  result: 'canary-result-a81d',
  error: 'canary-error-0b6f',
  token: 'canary-token-3e19',
};

let parley: Parley;
let scripted: ScriptedServer;
let fine: string;
let failing: string;
let receipt: string;

beforeAll(async () => {
  scripted = await scriptedServer([tool('fine'), tool('failing')], (call, reply) => {
    if (!('inputResponses' in call.params)) {
      const inputRequests = asking('go', { word: { type: 'string', title: canary.question } });
      return reply.result({ resultType: 'input_required', inputRequests, requestState: canary.state });
    }
    if ((call.params as { name: string }).name === 'failing') return reply.error(-32000, canary.error, { why: canary.error });
    return reply.result({ resultType: 'complete', content: [{ type: 'text', text: canary.result }] });
  });
  parley = await startParley({
    servers: [{ id: 'scripted', url: scripted.url, credential: { env: 'SCRIPTED_TOKEN' } }],
    env: { PARLEY_LOG_LEVEL: 'trace', SCRIPTED_TOKEN: canary.token },
  });
  const run = async (name: string): Promise<string> => {
    const id = await start(parley, { server: 'scripted', tool: name, arguments: { secret: canary.argument } });
    const reply = await accept(parley, await asked(parley, id), { go: { word: canary.answer } });
    receipt = JSON.stringify(reply.body) + (await parley.api(`/v1/receipts/${reply.body.receipt.id}`)).text;
    await outcome(parley, id);
    return id;
  };
  fine = await run('fine');
  failing = await run('failing');
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
});

/** Which canaries a text holds, in clear, in base64 at any alignment, or in hexadecimal. */
function found(text: string): string[] {
  const forms = (word: string) => [
    word,
    ...[0, 1, 2].map((shift) =>
      Buffer.from('\0'.repeat(shift) + word)
        .toString('base64')
        .slice(shift + 1, -3),
    ),
    Buffer.from(word).toString('hex'),
  ];
  return Object.entries(canary)
    .filter(([, word]) => forms(word).some((form) => text.includes(form)))
    .map(([name]) => name);
}

describe('the canaries', () => {
  it('were used: the server got the token and the answer, and the search sees what is there', () => {
    const [asking, retry] = scripted.calls;
    expect(asking?.headers.authorization).toBe(`Bearer ${canary.token}`);
    expect(retry?.params).toMatchObject({ requestState: canary.state, arguments: { secret: canary.argument } });
    const everywhere = JSON.stringify(scripted.calls) + JSON.stringify(canary);
    expect(found(everywhere)).toEqual(Object.keys(canary));
    expect(found(Buffer.from(`x${canary.state}yz`).toString('base64'))).toEqual(['state']);
  });

  it('are not in the raw history, its failures and its search attributes [P4]', async () => {
    const client = await temporalClient();
    for (const id of [fine, failing]) {
      const handle = client.workflow.getHandle(workflowId('t1', id as InvocationId));
      const history = JSON.stringify(historyToJSON(await handle.fetchHistory()));
      const shown = JSON.stringify(await handle.describe(), (_, value) => (typeof value === 'bigint' ? String(value) : value));
      expect(history).toContain('ParleyStatus');
      expect(history.length).toBeGreaterThan(5_000);
      expect(found(history + shown)).toEqual([]);
    }
    await client.connection.close();
  });

  it('are in no key or value of the store [P4]', async () => {
    const redis = await createClient({ url: inject('redisUrl') }).connect();
    const mine = parley.env['PARLEY_REDIS_PREFIX'] ?? '';
    const kinds: Record<string, number> = {};
    for await (const keys of redis.scanIterator({ MATCH: `${mine}*`, COUNT: 500 })) {
      for (const key of keys) {
        const type = await redis.type(key);
        kinds[type] = (kinds[type] ?? 0) + 1;
        expect(found(key + (await valueOf(redis as never, key, type))), key).toEqual([]);
      }
    }
    await redis.close();
    expect(Object.keys(kinds).toSorted()).toEqual(['hash', 'stream', 'string', 'zset']);
  });

  it('are in no log line, at the most talkative level [P4]', () => {
    const lines = parley.logs();
    expect(lines.length).toBeGreaterThan(20);
    expect(found(lines.join('\n'))).toEqual([]);
  });

  it('are in the API only where they belong, and the state nowhere [P4]', async () => {
    expect(found(JSON.stringify(await invocation(parley, fine)))).toEqual(['result']);
    expect(found(JSON.stringify(await invocation(parley, failing)))).toEqual(['error']);
    expect(found(JSON.stringify((await parley.api('/v1/invocations')).body))).toEqual([]);
    expect(found(receipt)).toEqual([]);
    const audit = [...(await auditOf(parley, fine)), ...(await auditOf(parley, failing))];
    expect(audit.length).toBeGreaterThan(8);
    expect(found(JSON.stringify(audit))).toEqual([]);
    const consent = audit.find((event) => event.type === 'round_received').consent;
    expect(found((await parley.api(`/v1/consents/${consent}`)).text)).toEqual(['argument', 'question']);
    const servers = (await parley.api('/v1/servers')).text;
    expect(servers).toContain('scripted');
    expect(found(servers)).toEqual([]);
  });
});

interface AnyRedis {
  get(key: string): Promise<string | null>;
  hGetAll(key: string): Promise<object>;
  zRange(key: string, from: number, to: number): Promise<string[]>;
  xRange(key: string, from: string, to: string): Promise<unknown>;
}

async function valueOf(redis: AnyRedis, key: string, type: string): Promise<string> {
  switch (type) {
    case 'string':
      return (await redis.get(key)) ?? '';
    case 'hash':
      return JSON.stringify(await redis.hGetAll(key));
    case 'zset':
      return JSON.stringify(await redis.zRange(key, 0, -1));
    case 'stream':
      return JSON.stringify(await redis.xRange(key, '-', '+'));
    default:
      throw new Error(`this test does not read a ${type}`);
  }
}
