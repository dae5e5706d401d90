/** Connections are opened when a call needs them; only a server whose tools nobody has asked for yet is asked at once, so that it can be chosen. */

import type { LiveConnections } from '../mcp/live-connections.js';
import { endpointOf, programOf } from '../servers/credentials.js';
import type { ToolLists } from '../servers/published-tools.js';
import type { LegacyServerEntry, StdioServerEntry } from '../servers/registry.js';

/** Never rejects: a server that cannot be asked is asked again by the first call. */
export async function introduce(
  entries: readonly (LegacyServerEntry | StdioServerEntry)[],
  connections: LiveConnections,
  lists: ToolLists,
): Promise<void> {
  const asking = entries.map(async (entry) => {
    if ((await lists.find(entry.digest)) !== undefined) return;
    if (entry.transport === 'stdio') await connections.introduceProgram(await programOf(entry));
    else await connections.introduceEndpoint(await endpointOf(entry), entry.digest);
  });
  await Promise.allSettled(asking);
}
