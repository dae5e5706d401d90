/** What the consent routes take and give (design §9): what a person is asked, and what they decide. */

import { z } from 'zod';
import { actions, methods } from '../../domain/call.js';
import { consentStatuses } from '../../domain/consent.js';
import { type FormField, stringFormats, urlNotes } from '../../domain/form.js';

const field = {
  name: z.string(),
  title: z.string().exactOptional(),
  description: z.string().exactOptional(),
  required: z.boolean(),
  warning: z
    .literal('secret')
    .exactOptional()
    .meta({ description: 'It seems to ask for a password, a key, a token or card data' }),
};
const options = z.array(z.object({ value: z.string(), title: z.string() }));
const count = z.int().min(0);

/** The domain's form model, as callers read it. */
const Field: z.ZodType<FormField> = z.discriminatedUnion('type', [
  z.object({
    ...field,
    type: z.literal('string'),
    format: z.enum(stringFormats).exactOptional(),
    minLength: count.exactOptional(),
    maxLength: count.exactOptional(),
    default: z.string().exactOptional(),
  }),
  z.object({
    ...field,
    type: z.enum(['number', 'integer']),
    minimum: z.number().exactOptional(),
    maximum: z.number().exactOptional(),
    default: z.number().exactOptional(),
  }),
  z.object({ ...field, type: z.literal('boolean'), default: z.boolean().exactOptional() }),
  z.object({ ...field, type: z.literal('select'), options, default: z.string().exactOptional() }),
  z.object({
    ...field,
    type: z.literal('multiselect'),
    options,
    minItems: count.exactOptional(),
    maxItems: count.exactOptional(),
    default: z.array(z.string()).exactOptional(),
  }),
]);

const Input = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('form'), message: z.string(), fields: z.array(Field) }),
  z.object({
    kind: z.literal('url'),
    message: z.string(),
    url: z.string().meta({ description: 'Exactly as the server sent it' }),
    host: z.string().meta({ description: 'Where it leads, in ASCII' }),
    unicodeHost: z.string().exactOptional().meta({ description: 'How the host reads, where that is something else' }),
    notes: z.array(z.enum(urlNotes)),
  }),
  z.object({
    kind: z.literal('sampling'),
    messages: z.array(z.object({ role: z.enum(['user', 'assistant']), text: z.string() })),
    maxTokens: z.int(),
    systemPrompt: z.string().exactOptional(),
    modelHints: z.array(z.string()).exactOptional(),
    temperature: z.number().exactOptional(),
    stopSequences: z.array(z.string()).exactOptional(),
  }),
]);

/** Keyed by the server's own keys, `__proto__` included, which zod's record type drops: hence described and not parsed. */
const { $schema: _, ...inputsSchema } = z.toJSONSchema(z.record(z.string(), Input));
const Inputs = z.unknown().meta(inputsSchema);

export const ConsentBody = z
  .object({
    id: z.string().meta({ examples: ['cns_4bf92f3577b34da6a3ce929d0e0e4736'] }),
    invocation: z.string(),
    status: z.enum(consentStatuses),
    round: z.int(),
    server: z.object({ id: z.string(), title: z.string(), origin: z.string() }),
    call: z.object({ method: z.enum(methods), name: z.string(), arguments: z.unknown() }),
    effect: z
      .object({ readOnly: z.boolean(), destructive: z.boolean(), idempotent: z.boolean(), openWorld: z.boolean() })
      .meta({ description: "The server's own claim" }),
    inputs: Inputs,
    display: z
      .array(z.object({ text: z.string(), display: z.string() }))
      .meta({ description: 'How to show each text of `call` and `inputs`, names included, that holds what nobody would see' }),
    earlier: z.object({ consent: z.string(), responses: z.unknown() }).nullable().meta({
      description:
        'What you answered when the same call asked exactly this before. The server has forgotten it, and it is not sent again unless you confirm it',
    }),
    digest: z.string().meta({ description: 'Of exactly what is shown; an answer names it' }),
    openedAt: z.iso.datetime(),
    deadline: z.iso.datetime(),
  })
  .meta({ id: 'Consent' });
export type ConsentBody = z.infer<typeof ConsentBody>;

export const ConsentPage = z.object({ items: z.array(ConsentBody), next: z.string().nullable() }).meta({ id: 'ConsentPage' });
export type ConsentPage = z.infer<typeof ConsentPage>;

const responses = z.unknown().meta({
  type: 'object',
  description: 'One response for every input of the round, under its key',
  additionalProperties: {
    anyOf: [
      {
        type: 'object',
        required: ['action'],
        properties: { action: { enum: [...actions] }, content: { type: 'object' } },
        additionalProperties: false,
      },
      {
        type: 'object',
        description: 'The answer to a sampling input',
        required: ['role', 'content', 'model'],
        properties: {
          role: { enum: ['user', 'assistant'] },
          content: {
            type: 'object',
            required: ['type', 'text'],
            properties: { type: { const: 'text' }, text: { type: 'string' } },
            additionalProperties: false,
          },
          model: { type: 'string', minLength: 1 },
          stopReason: { type: 'string' },
        },
        additionalProperties: false,
      },
    ],
  },
});

/** What `responses` may hold depends on the round and is checked against it, see {@link checkAnswer}. */
export const AnswerBody = z.strictObject({ digest: z.string().min(1).max(256), responses }).meta({ id: 'AnswerConsent' });
export type AnswerBody = z.infer<typeof AnswerBody>;

export const OpenedWish = z
  .strictObject({ input: z.string().max(1024).meta({ description: 'Key of the input whose URL is opened' }) })
  .meta({ id: 'OpenUrl' });
export type OpenedWish = z.infer<typeof OpenedWish>;

export const OpenedBody = z
  .object({ consent: z.string(), input: z.string(), openedAt: z.iso.datetime() })
  .meta({ id: 'UrlOpened' });
export type OpenedBody = z.infer<typeof OpenedBody>;

export const WithdrawnBody = z.object({ consent: z.string(), invocation: z.string() }).meta({ id: 'ConsentWithdrawn' });
export type WithdrawnBody = z.infer<typeof WithdrawnBody>;

export const AnsweredBody = z
  .object({
    verdict: z.enum(['accepted', 'pending']),
    consent: z.string(),
    invocation: z.string(),
    answer: z.string().meta({ description: 'Id of the answer: the Idempotency-Key' }),
    receipt: z.object({ id: z.string(), jws: z.string() }),
  })
  .meta({ id: 'Answered' });
export type AnsweredBody = z.infer<typeof AnsweredBody>;
