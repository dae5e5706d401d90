/** How a server that is a program is written in parley.servers.yaml: what is started, with which arguments and environment, and where. */

import { z } from 'zod';
import { credentialSchema, variableName } from './credential.schema.js';

const maxArgs = 64;
const maxTextLength = 4096;
const maxVariables = 64;

/** The operating system ends a text at NUL. */
function text(expected: string, least: number) {
  const error = `expected ${expected} of at most ${maxTextLength} characters`;
  return z
    .string({ error })
    .min(least, { error })
    .max(maxTextLength, { error })
    .refine((value) => !value.includes('\0'), { error });
}

const mapExpected = 'expected a map of names (letters, digits and "_") and values';

const environmentSchema = z
  .record(
    z.string().regex(variableName),
    z.union([text('a text', 0), credentialSchema], { error: 'expected a text, {env: NAME} or {file: path}' }),
    { error: mapExpected },
  )
  .refine((variables) => Object.keys(variables).length <= maxVariables, { error: `expected at most ${maxVariables} variables` });

export const stdioMembers = {
  /** A path, or a name that is looked for on the PATH. No shell reads it. */
  command: text('a program', 1),
  args: z
    .array(text('an argument', 0), { error: 'expected a list of arguments' })
    .max(maxArgs, {
      error: `expected at most ${maxArgs} arguments`,
    })
    .default([]),
  env: environmentSchema.default({}),
  cwd: text('an absolute path', 1)
    .refine((path) => path.startsWith('/'), { error: 'expected an absolute path' })
    .exactOptional(),
};

export type WrittenEnvironment = z.output<typeof environmentSchema>;
