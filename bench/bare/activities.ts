/** The MCP request of the floor: the SDK's client as its documentation shows it, connected once. */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export interface BareActivities {
  callTool(tool: string): Promise<unknown>;
}

export async function connectClient(url: string): Promise<Client> {
  const client = new Client(
    { name: 'parley-bench', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, inputRequired: { autoFulfill: false } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

export function bareActivities(client: Client): BareActivities {
  return {
    callTool: (name) => client.callTool({ name, arguments: { text: 'bench' } }, { allowInputRequired: true } as object),
  };
}
