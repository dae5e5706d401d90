/**
 * Validators of the values a person gives (design §6), made with ajv from a schema that is generated from Parley's form model: a
 * server's own schema is never compiled. One validator per field, which stops at a value's first fault, so that a huge hostile answer
 * costs no more than its size; field names never reach ajv, which cannot hold one named `__proto__`.
 */

import { createHash } from 'node:crypto';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { FormField } from './form.js';
import { isUnicode } from './server-json.js';

/** What is wrong with one value. The sentence names bounds and formats of the form, never the value. */
export interface ValueFault {
  readonly code: ValueFaultCode;
  /** RFC 6901, from the value; `''` is the value itself. */
  readonly pointer: string;
  readonly message: string;
}

const faultCodes = {
  type: 'type_wrong',
  minLength: 'text_too_short',
  maxLength: 'text_too_long',
  format: 'format_wrong',
  unicode: 'text_not_unicode',
  minimum: 'number_too_small',
  maximum: 'number_too_large',
  enum: 'option_unknown',
  minItems: 'items_too_few',
  maxItems: 'items_too_many',
  distinct: 'items_repeated',
} as const;
export type ValueFaultCode = (typeof faultCodes)[keyof typeof faultCodes];

export type FieldValidator = (value: unknown) => ValueFault | undefined;

/** Compiling a form of 64 fields takes about 15 ms, and a server asks the same form again and again. */
const maxCachedForms = 256;
const cache = new Map<string, readonly FieldValidator[]>();

/** Validators of a form's fields, in their order. Compiled once per distinct form; the least recently used forms are forgotten. */
export function validatorsOf(fields: readonly FormField[]): readonly FieldValidator[] {
  const schemas = fields.map(schemaOf);
  const digest = createHash('sha256').update(JSON.stringify(schemas)).digest('base64');
  const validators = cache.get(digest) ?? compile(schemas);
  cache.delete(digest);
  cache.set(digest, validators);
  if (cache.size > maxCachedForms) cache.delete(cache.keys().next().value as string);
  return validators;
}

function schemaOf(field: FormField): object {
  switch (field.type) {
    case 'string': {
      const { minLength, maxLength, format } = field;
      return { type: 'string', unicode: true, minLength, maxLength, format };
    }
    case 'number':
    case 'integer':
      return { type: field.type, minimum: field.minimum, maximum: field.maximum };
    case 'boolean':
      return { type: 'boolean' };
    case 'select':
      return { type: 'string', enum: field.options.map(({ value }) => value) };
    case 'multiselect': {
      const values = field.options.map(({ value }) => value);
      const maxItems = Math.min(field.maxItems ?? Infinity, values.length);
      return { type: 'array', minItems: field.minItems, maxItems, distinct: true, items: { type: 'string', enum: values } };
    }
  }
}

/** An Ajv keeps whatever it ever compiled, so each form has its own and is forgotten with it. */
function compile(schemas: readonly object[]): FieldValidator[] {
  const ajv = new Ajv({ meta: false, validateSchema: false, addUsedSchema: false, formats });
  ajv.addKeyword({ keyword: 'unicode', type: 'string', validate: (_: true, text: string) => isUnicode(text) });
  ajv.addKeyword({
    keyword: 'distinct',
    type: 'array',
    validate: (_: true, items: unknown[]) => new Set(items).size === items.length,
  });
  return schemas.map((schema) => {
    const validate = ajv.compile(schema);
    return (value) => firstFault(validate, value);
  });
}

function firstFault(validate: ValidateFunction, value: unknown): ValueFault | undefined {
  if (validate(value)) return undefined;
  const [error] = validate.errors as [ErrorObject];
  const code = faultCodes[error.keyword as keyof typeof faultCodes];
  return { code, pointer: error.instancePath, message: messages[error.keyword] ?? `${error.message}` };
}

const messages: Readonly<Record<string, string>> = {
  enum: 'must be one of the offered options',
  unicode: 'must be well-formed Unicode text',
  distinct: 'must NOT hold an option twice',
};

const { email, uri, date, 'date-time': lenientDateTime } = fullFormats;

/** ajv-formats also lets a space separate date and time, and minutes be left out of an offset; RFC 3339 does not. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;
const isDateTime = (text: string): boolean =>
  rfc3339.test(text) && (lenientDateTime as { validate(text: string): boolean }).validate(text);

const formats = { email, uri, date, 'date-time': isDateTime };
