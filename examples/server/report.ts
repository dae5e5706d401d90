/** `report`: asks nobody. Twice it answers "not yet" with a `requestState` alone; the client's next retries collect the result. */

import { inputRequired, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { text, type Toolkit } from './toolkit.js';

interface Progress {
  readonly polls: number;
}

const pollsNeeded = 2;

export function registerReport(server: McpServer, { effects, states }: Toolkit): void {
  server.registerTool(
    'report',
    {
      title: 'Write a report',
      description: 'Takes a while: the result is ready at the third request',
      inputSchema: z.object({ about: z.string().min(1) }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    async ({ about }, { mcpReq }) => {
      const { polls } = mcpReq.requestState<Progress>() ?? { polls: 0 };
      if (polls < pollsNeeded) return inputRequired({ requestState: states.seal({ polls: polls + 1 }) });
      effects.perform('report');
      return text(`report about ${about}`);
    },
  );
}
