/** How a policy is written in parley.servers.yaml, and the {@link Policy} it stands for. What is left out is as {@link defaultPolicy} says. */

import { z } from 'zod';
import { parseDurationMs } from '../../domain/duration.js';
import {
  type Policy,
  defaultPolicy,
  largestLegBytes,
  maxCallDeadlineMs,
  maxLegDeadlineMs,
  maxLegBytes,
  maxToolCacheMaxAgeMs,
  onStateExpiredModes,
  secretFieldsModes,
} from '../../domain/policy.js';
import { present } from '../../domain/server-json.js';

const dayMs = 86_400_000;
const mebibyte = 1024 * 1024;

/**
 * @param mostMs a leg that outlives an hour, or a call that outlives a year, is a slip of the pen
 * @param leastMs 0 where nothing is a length as well
 * @returns milliseconds
 */
export function duration(example: string, mostMs: number, leastMs: 0 | 1 = 1) {
  const expected = `expected an ISO 8601 duration such as ${example}`;
  return z.string({ error: expected }).transform((text, context) => {
    const ms = parseDurationMs(text);
    if (ms === undefined) context.addIssue({ code: 'custom', message: expected });
    else if (ms < leastMs || ms > mostMs) {
      const bounds = `${leastMs > 0 ? 'longer than nothing and ' : ''}at most ${mostMs / 1000} seconds`;
      context.addIssue({ code: 'custom', message: `${expected}, ${bounds}` });
    } else return ms;
    return z.NEVER;
  });
}

export function count(least: number, most: number) {
  const error = `expected a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

const gateSchema = z
  .strictObject({
    maxRequests: count(1, 64),
    maxKeyLength: count(1, 1024),
    maxDepth: count(1, 64),
    maxFields: count(1, 256),
    maxOptions: count(1, 2000),
    maxMessageBytes: count(1, 65_536),
    maxUrlBytes: count(1, 65_536),
    maxLabelBytes: count(1, 8_192),
    maxStateBytes: count(1, mebibyte),
    maxRoundBytes: count(1, mebibyte),
  })
  .partial();

const flag = z.boolean({ error: 'expected true or false' });

const allowSchema = z.strictObject({ form: flag, url: flag, sampling: flag, roots: flag }).partial();

const rootUri = 'expected a file:// URI of at most 1024 characters';

/** Few and short, for they travel with every leg. */
const rootsSchema = z
  .array(
    z.strictObject({
      uri: z
        .string({ error: rootUri })
        .max(1024, { error: rootUri })
        .refine((uri) => uri.startsWith('file://') && URL.canParse(uri), rootUri),
      name: z.string({ error: 'expected a name of at most 200 characters' }).max(200).exactOptional(),
    }),
    { error: 'expected a list of roots, each with a uri' },
  )
  .max(16, { error: 'expected at most 16 roots' });

/** A code alone is no proof: many errors share it. */
const stateRefusalsSchema = z
  .array(
    z
      .strictObject({
        code: z.int({ error: 'expected a JSON-RPC error code' }),
        reason: z.string().min(1).max(200).exactOptional(),
        message: z.string().min(1).max(500).exactOptional(),
      })
      .refine(
        ({ reason, message }) => reason !== undefined || message !== undefined,
        'expected a reason or a message beside the code',
      ),
    { error: 'expected a list of errors, each with a code' },
  )
  .max(16, { error: 'expected at most 16 errors' });

const versionExpected = 'expected a text of 1 to 64 characters';

const writtenPolicySchema = z
  .strictObject({
    version: z.string({ error: versionExpected }).min(1, { error: versionExpected }).max(64, { error: versionExpected }),
    maxRounds: count(0, 100),
    maxPolls: count(0, 10_000),
    maxCancels: count(1, 100),
    pollInitial: duration('PT1S', dayMs),
    pollMax: duration('PT30S', dayMs),
    legDeadline: duration('PT2M', maxLegDeadlineMs),
    roundDeadline: duration('P3D', 90 * dayMs),
    callDeadline: duration('P14D', maxCallDeadlineMs),
    maxConnectAttempts: count(1, 100),
    connectBackoffInitial: duration('PT1S', dayMs),
    connectBackoffMax: duration('PT30S', dayMs),
    maxArgumentsBytes: count(2, mebibyte),
    maxResultBytes: count(1024, 64 * mebibyte),
    maxAnswerBytes: count(2, mebibyte),
    allow: allowSchema,
    roots: rootsSchema,
    allowLoopbackUrls: flag,
    secretFields: z.enum(secretFieldsModes, { error: `expected ${secretFieldsModes.join(' or ')}` }),
    onStateExpired: z.enum(onStateExpiredModes, { error: `expected ${onStateExpiredModes.join(' or ')}` }),
    stateRefusals: stateRefusalsSchema,
    toolCacheMaxAge: duration('PT30S', maxToolCacheMaxAgeMs, 0),
    gate: gateSchema,
  })
  .partial();

/** No leg may be too large for one Temporal payload: its call could neither go on nor end. */
export const policySchema = writtenPolicySchema.superRefine((written, context) => {
  if (largestLegBytes(policyOf(written)) <= maxLegBytes) return;
  const sizes = '2 * maxArgumentsBytes + maxAnswerBytes + gate.maxStateBytes + gate.maxRoundBytes';
  context.addIssue({ code: 'custom', message: `expected ${sizes} to be at most ${maxLegBytes}` });
});

export function policyOf(written: z.output<typeof writtenPolicySchema> = {}): Policy {
  const {
    pollInitial,
    pollMax,
    legDeadline,
    roundDeadline,
    callDeadline,
    connectBackoffInitial,
    connectBackoffMax,
    toolCacheMaxAge,
    allow,
    gate,
    ...same
  } = written;
  return {
    ...defaultPolicy,
    ...present(same),
    ...present({
      pollInitialMs: pollInitial,
      pollMaxMs: pollMax,
      legDeadlineMs: legDeadline,
      roundDeadlineMs: roundDeadline,
      callDeadlineMs: callDeadline,
      connectBackoffInitialMs: connectBackoffInitial,
      connectBackoffMaxMs: connectBackoffMax,
      toolCacheMaxAgeMs: toolCacheMaxAge,
    }),
    allow: { ...defaultPolicy.allow, ...present(allow ?? {}) },
    gate: { ...defaultPolicy.gate, ...present(gate ?? {}) },
  };
}
