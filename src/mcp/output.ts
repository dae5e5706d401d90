/**
 * Whether a complete tool result fits the output schema that its tool declared (MCP: clients SHOULD validate). It runs after the tool has
 * run, so a misfit is reported and never a reason to send again.
 *
 * The schema is the server's and so is the data: a `pattern` may be made to take for ever. Both compiling and checking therefore run under
 * a time limit that also stops a regular expression.
 */

import { createContext, Script } from 'node:vm';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { digestOf } from '../../domain/digest.js';
import { isObject } from '../../domain/server-json.js';
import type { ToolDefinition } from './tool-definition.js';

/** Far beyond what an honest schema needs, and short enough for a worker that serves others. */
const maxCheckMs = 1_000;
const maxSchemas = 256;

// Annotations and unknown formats are no errors: servers describe more than ajv knows. Unregistered, so that no schema can claim
// another's `$id`.
const options = { strict: false, allErrors: false, addUsedSchema: false, logger: false } as const;
const draft07 = formats.default(new Ajv(options));
const draft2020 = formats.default(new Ajv2020(options));

const compiled = new Map<string, ValidateFunction>();

/**
 * @param rawResult a complete result as the server sent it
 * @returns why it does not fit, or undefined when it does, when the tool declares no output schema, or when the result is an error. The text
 *          may quote member names, never values
 */
export function outputFault(tool: ToolDefinition, rawResult: Record<string, unknown>): string | undefined {
  const { outputSchema } = tool;
  if (outputSchema === undefined || rawResult['isError'] === true) return undefined;
  const { structuredContent } = rawResult;
  if (structuredContent === undefined) return 'the tool declares an output schema and returned no structured content';
  try {
    return inTime(() => misfit(validatorFor(outputSchema), structuredContent));
  } catch (error) {
    return `the output could not be checked: ${messageOf(error)}`;
  }
}

function misfit(validate: ValidateFunction, content: unknown): string | undefined {
  if (validate(content)) return undefined;
  const [first] = validate.errors ?? [];
  return `structured content${first?.instancePath ?? ''} ${first?.message ?? 'does not fit the output schema'}`;
}

/** @throws ajv's error for a schema that does not compile; references are resolved within the schema only */
function validatorFor(schema: object): ValidateFunction {
  const key = digestOf(schema);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const ajv = dialectOf(schema);
  // `$async` is ajv's own word: its validator would answer with a promise, which is never false and rejects where nobody listens.
  const synchronous = { ...schema, $async: false };
  const validate = ajv.compile(synchronous);
  // ajv would hold every schema for ever.
  ajv.removeSchema(synchronous);
  const [oldest] = compiled.keys();
  if (compiled.size >= maxSchemas && oldest !== undefined) compiled.delete(oldest);
  compiled.set(key, validate);
  return validate;
}

function dialectOf(schema: object): Ajv | Ajv2020 {
  const { $schema } = schema as { $schema?: unknown };
  if ($schema === undefined) return draft2020;
  if (typeof $schema === 'string' && /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test($schema)) return draft2020;
  if (typeof $schema === 'string' && /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test($schema)) return draft07;
  throw new Error('the output schema is of an unknown JSON Schema dialect');
}

const run = new Script('work()');

/** @throws {Error} `ERR_SCRIPT_EXECUTION_TIMEOUT` past {@link maxCheckMs} */
function inTime<T>(work: () => T): T {
  return run.runInContext(createContext({ work }), { timeout: maxCheckMs }) as T;
}

function messageOf(error: unknown): string {
  const text = isObject(error) && typeof error['message'] === 'string' ? error['message'] : String(error);
  return text.slice(0, 500);
}
