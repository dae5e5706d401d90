/**
 * What is done through Parley in each scenario: what its referee has to see before it can judge. What it sees is Parley's doing; what
 * Parley's callers must see is expected here.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Call, Caller } from './under-test.js';

/** Tool calls that a scenario wishes for, where it names some. */
export interface Wishes {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[];
}

type Conversation = (parley: Caller, wishes: Wishes) => Promise<void>;

export const conversations = {
  'sep-2322-client-request-state': async (parley) => {
    await lists(parley, ['test_mrtr_echo_state', 'test_mrtr_no_state', 'test_mrtr_unrelated', 'test_mrtr_no_result_type']);
    const first = await tool(parley, 'test_mrtr_echo_state');
    const second = await tool(parley, 'test_mrtr_no_state');
    // While two others are parked, so that there are states and answers to be kept apart from.
    completed(await tool(parley, 'test_mrtr_unrelated'));
    completed(await parley.accept(first));
    completed(await parley.accept(second));
    completed(await tool(parley, 'test_mrtr_no_result_type'));
  },

  tools_call: async (parley) => {
    await lists(parley, ['add_numbers']);
    completed(await tool(parley, 'add_numbers', { a: 5, b: 3 }));
  },

  // Its server refuses the first request that it gets, and has no tools.
  'request-metadata': async (parley) => {
    await lists(parley, []);
    completed(await parley.call('prompts/get', { name: 'anything' }));
    completed(await parley.call('resources/read', { uri: 'test://anything' }));
  },

  'http-standard-headers': async (parley) => {
    await lists(parley, ['test_headers', 'my-hyphenated-tool']);
    completed(await tool(parley, 'my-hyphenated-tool'));
    completed(await tool(parley, 'test_headers'));
    completed(await parley.call('resources/read', { uri: 'file:///path/to/file%20name.txt' }));
    completed(await parley.call('resources/read', { uri: 'https://example.com/resource?id=123' }));
    completed(await parley.call('prompts/get', { name: 'test_prompt' }));
  },

  'http-custom-headers': async (parley, { toolCalls = [] }) => {
    await lists(parley, ['test_custom_headers', 'test_custom_headers_null']);
    expect('the calls that are wished for', toolCalls.length > 0, true);
    for (const { name, arguments: given } of toolCalls) completed(await tool(parley, name, given));
  },

  'http-invalid-tool-headers': async (parley) => {
    await lists(parley, ['valid_tool']);
    completed(await tool(parley, 'valid_tool', { region: 'eu' }));
    // Not being listed is one thing; a caller who knows the name all the same is the other.
    for (const name of ['invalid_empty_header', 'invalid_object_header', 'invalid_duplicate_diff_case', 'invalid_space_in_name'])
      expect(`a call of ${name}`, await parley.refusalOf('tools/call', { name, arguments: {} }), 'tool_unknown');
  },

  // Its server has no answer to `tools/call`: the call only shows that no step of one looks the reference up.
  'json-schema-ref-no-deref': async (parley) => {
    await lists(parley, ['lookup_user']);
    expect('the outcome', (await tool(parley, 'lookup_user', { id: 'user-1' })).outcome, 'failed');
  },

  'json-schema-2020-12-preservation': async (parley) => {
    const tools = await lists(parley, ['json_schema_2020_12_tool', 'json_schema_echo']);
    completed(await tool(parley, 'json_schema_echo', { schema: tools[0]?.inputSchema }));
  },
} satisfies Record<string, Conversation>;

export type ScenarioName = keyof typeof conversations;

async function tool(parley: Caller, name: string, given: object = {}): Promise<Call> {
  return await parley.call('tools/call', { name, arguments: given });
}

async function lists(parley: Caller, names: readonly string[]) {
  const tools = await parley.tools();
  expect(
    'the tools that Parley lists',
    tools.map(({ name }) => name),
    names,
  );
  return tools;
}

function completed({ outcome, reason, consent }: Call): void {
  expect('the outcome', outcome ?? `a question (${consent})`, 'completed', ` (${reason})`);
}

function expect(what: string, found: unknown, expected: unknown, more = ''): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}${more}`);
}
