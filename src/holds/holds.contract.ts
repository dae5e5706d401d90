/** What the hold routes give. */

import { z } from 'zod';

const hold = {
  heldBy: z.string().nullable().meta({ description: 'Null where an operator of another tenant holds it' }),
  heldAt: z.iso.datetime(),
};

export const HoldBody = z.object(hold).meta({ id: 'Hold' });
export type HoldBody = z.infer<typeof HoldBody>;

export const HoldsBody = z
  .object({
    tenant: HoldBody.nullable().meta({ description: 'The hold on your own tenant' }),
    servers: z.array(z.object({ server: z.string(), ...hold })).meta({ description: 'Held servers, for every tenant' }),
  })
  .meta({ id: 'Holds' });
export type HoldsBody = z.infer<typeof HoldsBody>;
