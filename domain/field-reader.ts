/**
 * From the schema of one form field to a field of Parley's model (design §6): strings, numbers, integers and booleans here, choices in
 * {@link ./choice-reader.ts}. Types, bounds and defaults are checked, so that every field can be shown and satisfied.
 */

import { assertPossible, boundAt, isCount } from './bounds.js';
import { isChoice, readMultiSelect, readSelect } from './choice-reader.js';
import { allowOnly } from './constraints.js';
import { stringFormats } from './form.js';
import type { BooleanField, FieldBase, FormField, NumberField, StringField, StringFormat } from './form.js';
import { GateRefusal } from './gate-refusal.js';
import { pointerTo } from './json-pointer.js';
import type { GateCaps } from './policy.js';
import { extended, labelAt, objectAt, present, textAt, type JsonObject } from './server-json.js';

/** @throws {GateRefusal} on anything that Parley could not show or enforce */
export function readField(name: string, raw: unknown, required: boolean, path: string, caps: GateCaps): FormField {
  const schema = objectAt(raw, path, 'schema_malformed');
  const base: FieldBase = present({
    name,
    required,
    title: readLabel(schema, 'title', path, caps),
    description: readLabel(schema, 'description', path, caps),
  });
  switch (schema['type']) {
    case 'string':
      return isChoice(schema) ? readSelect(base, schema, path, caps) : readString(base, schema, path, caps);
    case 'number':
    case 'integer':
      return readNumber(base, schema['type'], schema, path);
    case 'boolean':
      return readBoolean(base, schema, path);
    case 'array':
      return readMultiSelect(base, schema, path, caps);
    default:
      throw new GateRefusal('field_kind_unsupported', path);
  }
}

function readLabel(schema: JsonObject, keyword: 'title' | 'description', path: string, caps: GateCaps): string | undefined {
  return schema[keyword] === undefined ? undefined : labelAt(schema[keyword], pointerTo(path, keyword), caps);
}

/** Fewest and most code points that a value of the format can have. */
const formatLengths: Readonly<Record<StringFormat, readonly [number, number]>> = {
  email: [5, Infinity],
  uri: [3, Infinity],
  date: [10, 10],
  'date-time': [20, Infinity],
};

function readString(base: FieldBase, schema: JsonObject, path: string, caps: GateCaps): StringField {
  allowOnly(['type', 'format', 'minLength', 'maxLength'], schema, path);
  const format = readFormat(schema['format'], path);
  const minLength = boundAt(schema, 'minLength', path, isCount);
  const maxLength = boundAt(schema, 'maxLength', path, isCount);
  const [shortest, longest] = format === undefined ? [0, Infinity] : formatLengths[format];
  assertPossible(Math.max(minLength ?? 0, shortest), Math.min(maxLength ?? Infinity, longest), path);
  const preset =
    schema['default'] === undefined
      ? undefined
      : textAt(schema['default'], `${path}/default`, {
          maxBytes: caps.maxMessageBytes,
          malformed: 'default_invalid',
          tooLong: 'default_too_long',
        });
  return extended(base, { type: 'string', format, minLength, maxLength, default: preset });
}

function readFormat(raw: unknown, path: string): StringFormat | undefined {
  if (raw === undefined) return undefined;
  const format = stringFormats.find((known) => known === raw);
  if (format === undefined) throw new GateRefusal('format_unsupported', `${path}/format`);
  return format;
}

function readNumber(base: FieldBase, type: NumberField['type'], schema: JsonObject, path: string): NumberField {
  allowOnly(['type', 'minimum', 'maximum'], schema, path);
  const minimum = boundAt(schema, 'minimum', path, Number.isFinite);
  const maximum = boundAt(schema, 'maximum', path, Number.isFinite);
  const whole = type === 'integer';
  const least = minimum ?? -Infinity;
  const most = maximum ?? Infinity;
  assertPossible(whole ? Math.ceil(least) : least, whole ? Math.floor(most) : most, path);
  const preset = schema['default'];
  if (preset !== undefined && !(typeof preset === 'number' && (whole ? Number.isInteger : Number.isFinite)(preset))) {
    throw new GateRefusal('default_invalid', `${path}/default`);
  }
  return extended(base, { type, minimum, maximum, default: preset });
}

function readBoolean(base: FieldBase, schema: JsonObject, path: string): BooleanField {
  allowOnly(['type'], schema, path);
  const preset = schema['default'];
  if (preset !== undefined && typeof preset !== 'boolean') throw new GateRefusal('default_invalid', `${path}/default`);
  return extended(base, { type: 'boolean', default: preset });
}
