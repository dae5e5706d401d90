/** `secret://launch-plan`: a resource that asks why before it is read. */

import {
  acceptedContent,
  inputRequired,
  inputResponse,
  type McpServer,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Toolkit } from './toolkit.js';

const uri = 'secret://launch-plan';
const access = z.object({ reason: z.string().min(3), acknowledge: z.boolean() });

export function registerLaunchPlan(server: McpServer, { effects, states }: Toolkit): void {
  const ask = () =>
    inputRequired({
      requestState: states.seal('asked for the reason'),
      inputRequests: {
        access: inputRequired.elicit({
          message: 'Why do you need the launch plan? Access is recorded.',
          requestedSchema: {
            type: 'object',
            properties: {
              reason: { type: 'string', title: 'Reason', minLength: 3, maxLength: 200 },
              acknowledge: { type: 'boolean', title: 'I know that this is recorded' },
            },
            required: ['reason', 'acknowledge'],
          },
        }),
      },
    });

  server.registerResource(
    'launch-plan',
    uri,
    { title: 'Launch plan', description: 'Read only with a reason', mimeType: 'text/plain' },
    async (_uri, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'access');
      if (mcpReq.requestState() === undefined || answer.kind !== 'elicit') return ask();
      if (answer.action !== 'accept') return contentsOf('access was not granted');
      const given = acceptedContent(mcpReq.inputResponses, 'access', access);
      if (given === undefined) return ask();
      if (!given.acknowledge) return contentsOf('access was not granted');
      effects.perform(uri);
      return contentsOf('Launch on a Tuesday.');
    },
  );
}

function contentsOf(words: string): ReadResourceResult {
  return { contents: [{ uri, mimeType: 'text/plain', text: words }] };
}
