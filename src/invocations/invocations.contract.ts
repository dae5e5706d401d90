/** What the invocation routes take and give (design §9). Strict on the way in, parsed again on the way out. */

import { z } from 'zod';
import { methods } from '../../domain/call.js';
import { parseDurationMs } from '../../domain/duration.js';
import { openStatuses, outcomes } from '../../domain/outcome.js';
import { isObject } from '../../domain/server-json.js';
import { PageQuery } from '../http/page.contract.js';

const maxNameLength = 1_024;
const maxUriLength = 8_192;

/** Prefix of `_meta` keys that are the protocol's own: the client that sends the leg sets them, no caller may. */
const reservedMeta = 'io.modelcontextprotocol/';

/** Any JSON object, passed through as it came: `__proto__` is a member like any other. */
const jsonObject = z.unknown().refine(isObject, 'expected an object').meta({ type: 'object', additionalProperties: true });

const stringMap = z
  .unknown()
  .refine(
    (value) => isObject(value) && Object.values(value).every((each) => typeof each === 'string'),
    'expected an object of strings',
  )
  .meta({ type: 'object', additionalProperties: { type: 'string' } });

const requestMeta = jsonObject
  .refine(
    (value) => !isObject(value) || !Object.keys(value).some((key) => key.startsWith(reservedMeta)),
    `keys that start with ${reservedMeta} are set by Parley`,
  )
  .meta({ type: 'object', additionalProperties: true });

const name = z.string().min(1).max(maxNameLength);

const duration = z
  .string()
  .refine((text) => (parseDurationMs(text) ?? 0) > 0, 'expected a positive ISO 8601 duration such as P3D or PT90S')
  .meta({ format: 'duration', examples: ['P3D'] });

const policy = z
  .strictObject({
    maxRounds: z.int().min(0).optional(),
    maxPolls: z.int().min(0).optional(),
    legDeadline: duration.optional(),
    roundDeadline: duration.optional(),
    callDeadline: duration.optional(),
    allow: z
      .strictObject({ form: z.boolean(), url: z.boolean(), sampling: z.boolean(), roots: z.boolean() })
      .partial()
      .optional()
      .meta({ description: 'What the server is told that it may ask for; only `false` changes anything' }),
  })
  .meta({
    id: 'CallPolicy',
    description: "May only narrow the server's policy: of both values the smaller counts, and what either forbids is forbidden",
  });

const common = {
  server: z.string().min(1).max(128).meta({ description: 'Id of a registered server' }),
  subject: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'On whose behalf the call runs, and who is asked; the caller when absent' }),
  policy: policy.optional(),
};

/** One call, with the params of its method exactly as they go to the server. */
export const StartBody = z
  .discriminatedUnion('method', [
    z.strictObject({
      ...common,
      method: z.literal('tools/call'),
      params: z.strictObject({ name, arguments: jsonObject.optional(), _meta: requestMeta.optional() }),
    }),
    z.strictObject({
      ...common,
      method: z.literal('prompts/get'),
      params: z.strictObject({ name, arguments: stringMap.optional(), _meta: requestMeta.optional() }),
    }),
    z.strictObject({
      ...common,
      method: z.literal('resources/read'),
      params: z.strictObject({ uri: z.string().min(1).max(maxUriLength), _meta: requestMeta.optional() }),
    }),
  ])
  .meta({ id: 'StartInvocation' });
export type StartBody = z.infer<typeof StartBody>;

const status = z.enum([...openStatuses, 'closed']);
const instant = z.iso.datetime();

const summary = {
  id: z.string().meta({ examples: ['inv_4bf92f3577b34da6a3ce929d0e0e4736'] }),
  status,
  outcome: z.enum(outcomes).nullable(),
  reason: z
    .string()
    .nullable()
    .meta({ description: 'Why it ended so, or, while it is open, what it waits for beside an answer; stable, for programs' }),
  server: z.string(),
  method: z.enum(methods),
  name: z.string(),
  subject: z.string(),
  leg: z.int(),
  round: z.int().meta({ description: '0 before the first round' }),
  consent: z.string().nullable().meta({ description: 'The consent that is open' }),
  deadline: instant.nullable().meta({ description: 'Of the open round' }),
  startedAt: instant,
  updatedAt: instant,
};

export const InvocationSummary = z.object(summary).meta({ id: 'InvocationSummary' });
export type InvocationSummary = z.infer<typeof InvocationSummary>;

const InvocationProblem = z
  .object({
    reason: z.string(),
    key: z.string().nullable().meta({ description: "The offending input request's key, when the gate refused a round" }),
    detail: z.unknown().meta({ description: "The server's own error, untrusted; null when there is none" }),
  })
  .meta({ id: 'InvocationProblem' });

export const InvocationBody = z
  .object({
    ...summary,
    result: z.unknown().meta({ description: 'The complete result of the server, untrusted; null while there is none' }),
    problem: InvocationProblem.nullable().meta({ description: 'Set when the outcome is not `completed`' }),
  })
  .meta({ id: 'Invocation' });
export type InvocationBody = z.infer<typeof InvocationBody>;

export const InvocationPage = z
  .object({ items: z.array(InvocationSummary), next: z.string().nullable() })
  .meta({ id: 'InvocationPage' });
export type InvocationPage = z.infer<typeof InvocationPage>;

export const ListQuery = PageQuery.extend({ status: status.optional() });
export type ListQuery = z.infer<typeof ListQuery>;

/** The complete result as the server sent it; no schema of ours may drop a member of it. */
export const ResultBody = z.unknown().meta({ id: 'Result', type: 'object', additionalProperties: true });
