/** The codec server's bodies: Temporal payloads as proto3 JSON, that is with base64 for bytes. */

import { z } from 'zod';

const bytes = z.base64();

export const CodecBody = z
  .object({
    payloads: z.array(z.looseObject({ metadata: z.record(z.string(), bytes).optional(), data: bytes.optional() })),
  })
  .meta({ id: 'CodecPayloads' });
export type CodecBody = z.infer<typeof CodecBody>;
export type JsonPayload = CodecBody['payloads'][number];
