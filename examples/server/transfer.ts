/** `transfer`: two questions in one round. Both must be accepted before money moves. */

import { acceptedContent, inputRequired, inputResponse, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { text, type Toolkit } from './toolkit.js';

const payer = z.object({ account: z.enum(['current', 'savings']) });
const approval = z.object({ approve: z.boolean(), memo: z.string().max(140).optional() });

export function registerTransfer(server: McpServer, { effects, states }: Toolkit): void {
  const ask = (amount: number, to: string) =>
    inputRequired({
      requestState: states.seal('asked for payer and approval'),
      inputRequests: {
        payer: inputRequired.elicit({
          message: 'Which account pays?',
          requestedSchema: {
            type: 'object',
            properties: { account: { type: 'string', title: 'Account', enum: ['current', 'savings'] } },
            required: ['account'],
          },
        }),
        approval: inputRequired.elicit({
          message: `Transfer ${amount} to ${to}?`,
          requestedSchema: {
            type: 'object',
            properties: {
              approve: { type: 'boolean', title: 'Approve' },
              memo: { type: 'string', title: 'Memo', maxLength: 140 },
            },
            required: ['approve'],
          },
        }),
      },
    });

  server.registerTool(
    'transfer',
    {
      title: 'Transfer money',
      description: 'Moves money once a person has chosen the account and approved',
      inputSchema: z.object({ amount: z.number().positive(), to: z.string().min(1) }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    async ({ amount, to }, { mcpReq }) => {
      const answers = ['payer', 'approval'].map((key) => inputResponse(mcpReq.inputResponses, key));
      if (mcpReq.requestState() === undefined) return ask(amount, to);
      const refused = answers.some((answer) => answer.kind === 'elicit' && answer.action !== 'accept');
      if (refused) return text('nothing was transferred: not accepted');
      const chosen = acceptedContent(mcpReq.inputResponses, 'payer', payer);
      const decision = acceptedContent(mcpReq.inputResponses, 'approval', approval);
      if (chosen === undefined || decision === undefined) return ask(amount, to);
      if (!decision.approve) return text('nothing was transferred: not approved');
      effects.perform('transfer');
      return text(`${amount} was transferred from ${chosen.account} to ${to}`);
    },
  );
}
