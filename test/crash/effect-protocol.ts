/** What the MCP server of the matrix says (2026-07-28): two rounds for every method, and a result that repeats both answers. */

import type { CalledMethod, WireHold } from './moments.js';

export interface Message {
  readonly id: string;
  readonly method: string;
  readonly params: {
    readonly name?: string;
    readonly arguments?: { readonly call: string; readonly hold: string };
    readonly uri?: string;
    readonly requestState?: string;
    readonly inputResponses?: Readonly<Record<string, { readonly content?: { readonly text?: string } }>>;
  };
}

/** Key of its form, and of the form's only field. */
export const formKey = 'question';
export const fieldKey = 'text';
const name = 'conversation';

/** Params of a call that stops the server where it says. */
export function paramsFor(method: CalledMethod, call: string, wire: { leg: number; at: WireHold } | undefined): object {
  const hold = wire === undefined ? 'never' : `${wire.at}@${wire.leg}`;
  return method === 'resources/read' ? { uri: `crash://calls/${call}?hold=${hold}` } : { name, arguments: { call, hold } };
}

export function readCall({ params }: Message): { readonly call: string; readonly hold: string } {
  if (params.arguments !== undefined) return params.arguments;
  const uri = new URL(params.uri ?? '');
  return { call: uri.pathname.slice(1), hold: uri.searchParams.get('hold') ?? 'never' };
}

/** Leg 1 brings no state; a later one brings the answers that came before it. */
export function legOf({ params }: Message): number {
  return params.requestState === undefined ? 1 : answersIn(params.requestState).length + 2;
}

/** The reply to a request that is no leg, or nothing. */
export function listed({ id, method }: Message): object | undefined {
  if (method === 'server/discover') return { jsonrpc: '2.0', id, result: discovered };
  if (method === 'tools/list') return { jsonrpc: '2.0', id, result: { ...uncached, tools: [tool] } };
  return undefined;
}

export function replyTo(message: Message): object {
  const { id, method, params } = message;
  const before = params.requestState === undefined ? [] : answersIn(params.requestState);
  const given = params.inputResponses?.[formKey]?.content?.[fieldKey];
  const answers = given === undefined ? before : [...before, given];
  const result = answers.length < 2 ? asking(answers) : completing(method, JSON.stringify(answers));
  return { jsonrpc: '2.0', id, result };
}

/** The answers that a complete result says the server got. */
export function answersOf(method: CalledMethod, result: any): string[] {
  const text =
    method === 'tools/call'
      ? result.content[0].text
      : method === 'prompts/get'
        ? result.messages[0].content.text
        : result.contents[0].text;
  return JSON.parse(text) as string[];
}

const uncached = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const discovered = {
  ...uncached,
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {}, prompts: {}, resources: {} },
  serverInfo: { name: 'crash', version: '1' },
};
const tool = { name, description: 'asks twice, then completes', inputSchema: { type: 'object' } };

function asking(answers: readonly string[]): object {
  const requestedSchema = { type: 'object', properties: { [fieldKey]: { type: 'string' } }, required: [fieldKey] };
  const params = { mode: 'form', message: `Question ${answers.length + 1}`, requestedSchema };
  return {
    resultType: 'input_required',
    inputRequests: { [formKey]: { method: 'elicitation/create', params } },
    requestState: JSON.stringify({ answers }),
  };
}

function answersIn(state: string): string[] {
  return (JSON.parse(state) as { answers: string[] }).answers;
}

function completing(method: string, text: string): object {
  switch (method) {
    case 'tools/call':
      return { resultType: 'complete', content: [{ type: 'text', text }] };
    case 'prompts/get':
      return { resultType: 'complete', messages: [{ role: 'user', content: { type: 'text', text } }] };
    default:
      return { ...uncached, contents: [{ uri: 'crash://calls', text }] };
  }
}
