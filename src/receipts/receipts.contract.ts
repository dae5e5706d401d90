/** What a receipt looks like to those who may see it. */

import { z } from 'zod';

export const ReceiptBody = z
  .object({
    id: z.string(),
    invocation: z.string(),
    subject: z.string().meta({ description: 'Who decided' }),
    jws: z.string().meta({ description: 'JWS compact, EdDSA: who was shown what and decided what, in ids and digests' }),
  })
  .meta({ id: 'Receipt' });
export type ReceiptBody = z.infer<typeof ReceiptBody>;
