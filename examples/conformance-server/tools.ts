/**
 * The tools and the prompt that the official conformance suite expects of a server under test in its scenarios `input-required-result-*`
 * (SEP-2322), written as the SDK wants its tools to be written.
 */

import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequests,
  type InputRequiredResult,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

export type States = RequestStateCodec<string>;

const named = z.object({ name: z.string() });
const coloured = z.object({ color: z.string() });
const confirmed = z.object({ ok: z.boolean() });
const contextual = z.object({ context: z.string() });

const askName = (message = 'What is your name?') => inputRequired.elicit({ message, requestedSchema: named });
const askToConfirm = () => inputRequired.elicit({ message: 'Please confirm', requestedSchema: confirmed });
const askModel = (question: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: question } }], maxTokens });

export function registerTools(server: McpServer, states: States): void {
  const tool = (name: string, serve: (ctx: ServerContext) => Promise<CallToolResult | InputRequiredResult>): void => {
    server.registerTool(`test_input_required_result_${name}`, { description: `Conformance: ${name}` }, serve);
  };

  tool('elicitation', async ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_name', named);
    if (given !== undefined) return text(`Hello, ${given.name}!`);
    const answer = inputResponse(mcpReq.inputResponses, 'user_name');
    if (answer.kind === 'elicit' && answer.action !== 'accept') return text(`Hello, stranger! (${answer.action})`);
    return inputRequired({ inputRequests: { user_name: askName() } });
  });

  tool('sampling', async ({ mcpReq }) => {
    const sampled = sampledText(mcpReq.inputResponses, 'capital_question');
    if (sampled !== undefined) return text(sampled);
    return inputRequired({ inputRequests: { capital_question: askModel('What is the capital of France?', 100) } });
  });

  tool('list_roots', async ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'client_roots');
    if (answer.kind === 'roots') return text(`roots: ${answer.roots.map(({ uri }) => uri).join(' ')}`);
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });

  for (const name of ['request_state', 'tampered_state']) {
    tool(name, async (ctx) => {
      const given = acceptedContent(ctx.mcpReq.inputResponses, 'confirm', confirmed);
      if (given !== undefined && ctx.mcpReq.requestState() === name) return text(`state-ok: ${given.ok}`);
      return inputRequired({ inputRequests: { confirm: askToConfirm() }, requestState: await states.mint(name, ctx) });
    });
  }

  tool('multiple_inputs', async (ctx) => {
    const { inputResponses } = ctx.mcpReq;
    const person = acceptedContent(inputResponses, 'user_name', named);
    const greeting = sampledText(inputResponses, 'greeting');
    const roots = inputResponse(inputResponses, 'client_roots');
    if (person !== undefined && greeting !== undefined && roots.kind === 'roots')
      return text(`${greeting} ${person.name} of ${roots.roots.map(({ uri }) => uri).join(' ')}`);
    return inputRequired({
      inputRequests: {
        user_name: askName(),
        greeting: askModel('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint('asked for everything', ctx),
    });
  });

  tool('multi_round', async (ctx) => {
    const { inputResponses } = ctx.mcpReq;
    const name = ctx.mcpReq.requestState<string>();
    const colour = acceptedContent(inputResponses, 'step2', coloured);
    if (name !== undefined && colour !== undefined) return text(`${name} likes ${colour.color}`);
    const person = acceptedContent(inputResponses, 'step1', named);
    if (person === undefined)
      return inputRequired({
        inputRequests: { step1: askName('Step 1: What is your name?') },
        requestState: await states.mint('', ctx),
      });
    const message = 'Step 2: What is your favorite color?';
    return inputRequired({
      inputRequests: { step2: inputRequired.elicit({ message, requestedSchema: coloured }) },
      requestState: await states.mint(person.name, ctx),
    });
  });

  tool('capabilities', async ({ mcpReq }) => {
    const envelope = mcpReq.envelope as Readonly<Record<string, ClientCapabilities>> | undefined;
    const { elicitation, sampling } = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
    const inputRequests: InputRequests = {
      ...(elicitation !== undefined && { confirm: askToConfirm() }),
      ...(sampling !== undefined && { greeting: askModel('Generate a greeting', 50) }),
    };
    const keys = Object.keys(inputRequests);
    const isAnswered = keys.every((key) => inputResponse(mcpReq.inputResponses, key).kind !== 'missing');
    return isAnswered ? text(`answered: ${keys.join(' ')}`) : inputRequired({ inputRequests });
  });
}

export function registerPrompt(server: McpServer): void {
  server.registerPrompt('test_input_required_result_prompt', { description: 'Conformance: prompt' }, async ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_context', contextual);
    if (given !== undefined)
      return { messages: [{ role: 'user', content: { type: 'text', text: `In the context of ${given.context}` } }] };
    const message = 'What context should the prompt use?';
    return inputRequired({ inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema: contextual }) } });
  });
}

function sampledText(responses: Record<string, unknown> | undefined, key: string): string | undefined {
  const answer = inputResponse(responses, key);
  if (answer.kind !== 'sampling') return undefined;
  const { content } = answer.result;
  return 'text' in content ? content.text : undefined;
}

function text(words: string): CallToolResult {
  return { content: [{ type: 'text', text: words }] };
}
