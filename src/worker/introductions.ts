/** Programs are started when a call needs them; only one whose tools nobody has asked for yet is asked at once, so that it can be chosen. */

import type { LiveConnections } from '../mcp/live-connections.js';
import { programOf } from '../servers/credentials.js';
import type { ToolLists } from '../servers/published-tools.js';
import type { StdioServerEntry } from '../servers/registry.js';

/** Never rejects: a program that cannot be asked is asked again by the first call. */
export async function introduce(
  entries: readonly StdioServerEntry[],
  connections: LiveConnections,
  lists: ToolLists,
): Promise<void> {
  const asking = entries.map(async (entry) => {
    if ((await lists.find(entry.digest)) !== undefined) return;
    await connections.open(await programOf(entry)).describe(0);
  });
  await Promise.allSettled(asking);
}
