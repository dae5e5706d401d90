/** `echo`: asks nothing and changes nothing; its output has a schema. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

export function registerEcho(server: McpServer): void {
  server.registerTool(
    'echo',
    {
      title: 'Echo',
      description: 'Returns its text and the length of it',
      inputSchema: z.object({
        text: z.string(),
        delayMs: z.int().min(0).max(60_000).default(0).describe('How long to think before answering'),
      }),
      outputSchema: z.object({ text: z.string(), length: z.int() }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ text, delayMs }, { mcpReq }) => {
      if (delayMs > 0) await sleep(delayMs, undefined, { signal: mcpReq.signal });
      const structuredContent = { text, length: text.length };
      return { content: [{ type: 'text', text }], structuredContent };
    },
  );
}
