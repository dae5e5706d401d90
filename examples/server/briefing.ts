/** `briefing`: a prompt that asks for whom it is before it is written. */

import {
  acceptedContent,
  inputRequired,
  inputResponse,
  type GetPromptResult,
  type McpServer,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Toolkit } from './toolkit.js';

const reader = z.object({ audience: z.enum(['engineers', 'executives']), pages: z.int().min(1).max(5) });

export function registerBriefing(server: McpServer, { effects, states }: Toolkit): void {
  const ask = (topic: string) =>
    inputRequired({
      requestState: states.seal('asked for the reader'),
      inputRequests: {
        reader: inputRequired.elicit({
          message: `Who will read the briefing about ${topic}?`,
          requestedSchema: {
            type: 'object',
            properties: {
              audience: { type: 'string', title: 'Audience', enum: ['engineers', 'executives'] },
              pages: { type: 'integer', title: 'Pages', minimum: 1, maximum: 5, default: 1 },
            },
            required: ['audience', 'pages'],
          },
        }),
      },
    });

  server.registerPrompt(
    'briefing',
    {
      title: 'Briefing',
      description: 'A prompt for a briefing, written for its reader',
      argsSchema: z.object({ topic: z.string() }),
    },
    async ({ topic }, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'reader');
      if (mcpReq.requestState() === undefined || answer.kind !== 'elicit') return ask(topic);
      if (answer.action !== 'accept') return promptOf(`Say that there is no briefing about ${topic}.`);
      const chosen = acceptedContent(mcpReq.inputResponses, 'reader', reader);
      if (chosen === undefined) return ask(topic);
      effects.perform('briefing');
      return promptOf(`Write ${chosen.pages} page(s) about ${topic} for ${chosen.audience}.`);
    },
  );
}

function promptOf(words: string): GetPromptResult {
  return { messages: [{ role: 'user', content: { type: 'text', text: words } }] };
}
