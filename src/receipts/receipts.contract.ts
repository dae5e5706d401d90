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

export const ReceiptKeysBody = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string(),
        kid: z.string().meta({ description: "As in a receipt's protected header" }),
        alg: z.literal('EdDSA'),
        use: z.literal('sig'),
      }),
    ),
  })
  .meta({ id: 'ReceiptKeys', description: 'JWK set (RFC 7517): the key that signs, and those that have signed before' });
export type ReceiptKeysBody = z.infer<typeof ReceiptKeysBody>;
