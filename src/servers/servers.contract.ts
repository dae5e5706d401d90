/** What the server routes give (design §9). Words of a server are untrusted wherever they are shown. */

import { z } from 'zod';

export const ServerPage = z
  .object({
    items: z.array(
      z
        .object({
          id: z.string(),
          title: z.string(),
          transport: z.enum(['streamable-http', 'stdio']),
          origin: z.string(),
        })
        .meta({ id: 'Server' }),
    ),
  })
  .meta({ id: 'ServerPage' });
export type ServerPage = z.infer<typeof ServerPage>;

const anyObject = z.unknown().meta({ type: 'object', additionalProperties: true });

export const ToolPage = z
  .object({
    server: z.string(),
    fetchedAt: z.iso.datetime(),
    items: z.array(
      z
        .object({
          name: z.string(),
          title: z.string().optional(),
          description: z.string().optional(),
          inputSchema: anyObject,
          outputSchema: anyObject.optional(),
          annotations: anyObject.optional(),
          digest: z.string().meta({ description: 'Of the whole definition; a call is bound to it' }),
        })
        .meta({ id: 'Tool', description: 'As the server describes it, untrusted' }),
    ),
  })
  .meta({ id: 'ToolPage' });
export type ToolPage = z.infer<typeof ToolPage>;
