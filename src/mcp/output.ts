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
/** Far more than the tools that a worker serves at one time; past it all are compiled afresh. */
const maxSchemas = 256;

// Annotations and unknown formats are no errors: servers describe more than ajv knows. Unregistered, so that no schema can claim
// another's `$id`.
const options = { strict: false, allErrors: false, addUsedSchema: false, logger: false } as const;

/** An Ajv keeps whatever it ever compiled, removed or not, and a validator keeps its Ajv: they are forgotten together. */
class Validators {
  readonly #draft07 = formats.default(new Ajv(options));
  readonly #draft2020 = formats.default(new Ajv2020(options));
  readonly #compiled = new Map<string, ValidateFunction>();
  #compilations = 0;

  get areMany(): boolean {
    return this.#compilations >= maxSchemas;
  }

  known(digest: string): ValidateFunction | undefined {
    return this.#compiled.get(digest);
  }

  /** @throws ajv's error for a schema that does not compile; references are resolved within the schema only */
  compile(digest: string, schema: object): ValidateFunction {
    // Counted whether or not it succeeds: Ajv keeps what it could make of it.
    this.#compilations += 1;
    // `$async` is ajv's own word: its validator would answer with a promise, which is never false and rejects where nobody listens.
    const validate = this.#dialectOf(schema).compile({ ...schema, $async: false });
    this.#compiled.set(digest, validate);
    return validate;
  }

  #dialectOf(schema: object): Ajv | Ajv2020 {
    const { $schema } = schema as { $schema?: unknown };
    if ($schema === undefined) return this.#draft2020;
    if (typeof $schema === 'string') {
      if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test($schema)) return this.#draft2020;
      if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test($schema)) return this.#draft07;
    }
    throw new Error('the output schema is of an unknown JSON Schema dialect');
  }
}

let validators = new Validators();

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

/** @throws whatever {@link Validators.compile} throws */
function validatorFor(schema: object): ValidateFunction {
  const digest = digestOf(schema);
  const known = validators.known(digest);
  if (known !== undefined) return known;
  if (validators.areMany) validators = new Validators();
  return validators.compile(digest, schema);
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
