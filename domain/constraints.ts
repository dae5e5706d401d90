/**
 * Which JSON Schema keywords restrict a value. One that Parley does not enforce refuses the form, since an answer could pass here and
 * fail there; any other unknown keyword is an annotation by JSON Schema's own rule, and is ignored.
 */

import { GateRefusal } from './gate-refusal.js';
import { pointerTo } from './json-pointer.js';
import type { JsonObject } from './server-json.js';

/** Of drafts 3 to 2020-12, and of ajv's `formatMinimum` family. */
const constraintKeywords: ReadonlySet<string> = new Set([
  ...['$ref', '$dynamicRef', '$recursiveRef'],
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'extends', 'disallow'],
  ...['type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength'],
  ...['formatMinimum', 'formatMaximum', 'formatExclusiveMinimum', 'formatExclusiveMaximum'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'divisibleBy'],
  ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains', 'minContains', 'maxContains'],
  ...['minItems', 'maxItems', 'uniqueItems'],
  ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'propertyNames'],
  ...['required', 'minProperties', 'maxProperties'],
  ...['dependencies', 'dependentRequired', 'dependentSchemas'],
]);

/** @throws {GateRefusal} `schema_keyword_unsupported` on a constraint that is not among `supported` */
export function allowOnly(supported: readonly string[], schema: JsonObject, path: string): void {
  for (const keyword of Object.keys(schema)) {
    if (constraintKeywords.has(keyword) && !supported.includes(keyword)) {
      throw new GateRefusal('schema_keyword_unsupported', pointerTo(path, keyword));
    }
  }
}
