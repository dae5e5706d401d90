/**
 * From the `requestedSchema` of a form elicitation to Parley's form model (design §6). The root may only be a flat object of fields;
 * each field is read by {@link ./field-reader.ts}.
 */

import { allowOnly } from './constraints.js';
import { readField } from './field-reader.js';
import type { FormField } from './form.js';
import { GateRefusal } from './gate-refusal.js';
import { pointerTo } from './json-pointer.js';
import type { GateCaps } from './policy.js';
import { labelAt, objectAt, type JsonObject } from './server-json.js';

/**
 * @param schema as the server sent it
 * @param path   where it stands in the result
 * @returns the fields in the server's order; none is a form too: it asks for an accept with `{}`
 * @throws {GateRefusal} on anything that Parley could not show or enforce
 */
export function readForm(schema: unknown, path: string, caps: GateCaps): FormField[] {
  const root = objectAt(schema, path, 'schema_malformed');
  if (root['type'] !== 'object') throw new GateRefusal('schema_malformed', `${path}/type`);
  allowOnly(['type', 'properties', 'required', 'additionalProperties'], root, path);
  // An answer never has members that the form does not name, so either boolean is kept; a schema for them is not.
  if (!['undefined', 'boolean'].includes(typeof root['additionalProperties'])) {
    throw new GateRefusal('schema_keyword_unsupported', `${path}/additionalProperties`);
  }

  const properties = objectAt(root['properties'], `${path}/properties`, 'schema_malformed');
  const fields = Object.entries(properties);
  if (fields.length > caps.maxFields) throw new GateRefusal('too_many_fields', `${path}/properties`);
  const required = readRequired(root['required'], properties, `${path}/required`);
  return fields.map(([name, field]) => {
    labelAt(name, `${path}/properties`, caps);
    return readField(name, field, required.has(name), pointerTo(`${path}/properties`, name), caps);
  });
}

function readRequired(raw: unknown, properties: JsonObject, path: string): ReadonlySet<string> {
  if (raw === undefined) return new Set();
  if (!Array.isArray(raw)) throw new GateRefusal('schema_malformed', path);
  raw.forEach((name, index) => {
    // A required member that no field offers could never be given.
    if (typeof name !== 'string' || !Object.hasOwn(properties, name)) {
      throw new GateRefusal('schema_malformed', pointerTo(path, index));
    }
  });
  return new Set(raw as string[]);
}
