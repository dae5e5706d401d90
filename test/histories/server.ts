/** The server whose words lead calls along their paths; what each tool does is its name. */

import { asking, done, scriptedServer, tool, type Call, type Reply, type ScriptedServer } from '../harness/scripted-server.js';

const form = asking('go', { ok: { type: 'boolean' } });
const question = { resultType: 'input_required', inputRequests: form, requestState: 'kept' };
const later = { resultType: 'input_required', requestState: 'later' };
const number = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] };

const plain = [
  'completes',
  'asks',
  'asks_late',
  'asks_and_thinks',
  'asks_and_guards',
  'asks_twice',
  'asks_between_polls',
  'polls',
  'polls_on',
  'fails',
  'is_silent',
  'asks_again',
  'forgets',
  'forgets_always',
  'misheads',
  'misheads_always',
  'guards',
  'guards_late',
  'is_not_found',
  'needs_more',
];

export async function pathServer(): Promise<ScriptedServer> {
  let hasDrifted = false;
  return scriptedServer(
    () => [
      ...plain.map((name) => tool(name)),
      tool('misfits', { outputSchema: number }),
      tool('drifts', { title: hasDrifted ? 'Now something else' : 'What was agreed to' }),
    ],
    (call, reply) => {
      if (call.params['name'] === 'drifts') hasDrifted = true;
      script(call, reply);
    },
  );
}

const legOf = (call: Call): number => Number(call.id.split('.')[1]);
const isGood = (call: Call): boolean => call.headers.authorization === 'Bearer good';

function script(call: Call, reply: Reply): void {
  const { name, ...params } = call.params as { name: string };
  const isRetry = 'requestState' in params;
  switch (name) {
    case 'asks':
    case 'drifts':
      return reply.result(isRetry ? done : question);
    case 'asks_late':
      return void setTimeout(() => reply.result(question), 1_500);
    case 'asks_and_thinks':
      if (!isRetry) return reply.result(question);
      return void setTimeout(() => reply.result(done), 2_500);
    case 'asks_and_guards':
      if (!isRetry) return reply.result(question);
      if (!isGood(call)) return void reply.raw.writeHead(401).end('who?');
      return reply.result(done);
    case 'asks_twice':
      return reply.result(legOf(call) < 3 ? question : done);
    case 'asks_between_polls':
      if (legOf(call) === 1 || legOf(call) === 6) return reply.result(question);
      return reply.result(legOf(call) < 6 ? later : done);
    case 'asks_again':
      return reply.result(question);
    case 'polls':
      return reply.result(legOf(call) < 3 ? later : done);
    case 'polls_on':
      return reply.result(later);
    case 'fails':
      return reply.error(-32000, 'no');
    case 'is_silent':
      return;
    case 'is_not_found':
      return void reply.raw.writeHead(404).end('where?');
    case 'needs_more':
      return httpError(reply, call, { code: -32021, message: 'more', data: { requiredCapabilities: { sampling: {} } } });
    case 'forgets':
      if (!isRetry) return reply.result(question);
      if (legOf(call) === 2) return reply.error(-32602, 'expired', { reason: 'invalid_request_state' });
      return reply.result(done);
    case 'forgets_always':
      if (!isRetry) return reply.result(question);
      return reply.error(-32602, 'expired', { reason: 'invalid_request_state' });
    case 'misheads':
      if (legOf(call) > 1) return reply.result(done);
      return httpError(reply, call, { code: -32020, message: 'header mismatch' });
    case 'misheads_always':
      return httpError(reply, call, { code: -32020, message: 'header mismatch' });
    case 'guards':
      if (!isGood(call)) return void reply.raw.writeHead(401).end('who?');
      return reply.result(done);
    case 'guards_late':
      if (isGood(call)) return reply.result(done);
      return void setTimeout(() => reply.raw.writeHead(401).end('who?'), 1_000);
    default:
      return reply.result(done);
  }
}

function httpError(reply: Reply, { id }: Call, error: object): void {
  reply.raw.writeHead(400, { 'content-type': 'application/json' });
  reply.raw.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
}
