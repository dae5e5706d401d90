/** `deploy`: one question, one effect. The smallest tool that asks. */

import { acceptedContent, inputRequired, inputResponse, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { text, type Toolkit } from './toolkit.js';

/** What the person's answer must look like. It came through the client, so it is checked again here. */
const target = z.object({ environment: z.enum(['staging', 'production']), confirm: z.boolean() });

export function registerDeploy(server: McpServer, { effects, states }: Toolkit): void {
  const ask = (artifact: string) =>
    inputRequired({
      requestState: states.seal('asked for the target'),
      inputRequests: {
        target: inputRequired.elicit({
          message: `Where should ${artifact} be deployed?`,
          requestedSchema: {
            type: 'object',
            properties: {
              environment: {
                type: 'string',
                title: 'Environment',
                oneOf: [
                  { const: 'staging', title: 'Staging' },
                  { const: 'production', title: 'Production' },
                ],
              },
              confirm: { type: 'boolean', title: 'Deploy now', default: false },
            },
            required: ['environment', 'confirm'],
          },
        }),
      },
    });

  server.registerTool(
    'deploy',
    {
      title: 'Deploy an artifact',
      description: 'Deploys a build artifact after a person has chosen the environment and confirmed',
      inputSchema: z.object({ artifact: z.string().min(1).describe('Name of the build') }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    },
    async ({ artifact }, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'target');
      if (mcpReq.requestState() === undefined || answer.kind !== 'elicit') return ask(artifact);
      if (answer.action === 'decline') return text(`${artifact} was not deployed: declined`);
      if (answer.action === 'cancel') return text(`${artifact} was not deployed: cancelled`);
      const chosen = acceptedContent(mcpReq.inputResponses, 'target', target);
      if (chosen === undefined) return ask(artifact);
      if (!chosen.confirm) return text(`${artifact} was not deployed: not confirmed`);
      effects.perform('deploy');
      return text(`${artifact} was deployed to ${chosen.environment}`);
    },
  );
}
