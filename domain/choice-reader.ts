/**
 * Choices of a form (design §6), in every spelling of the 2025-11-25 and 2026-07-28 revisions: `enum`, `enum` with `enumNames`, `oneOf`
 * of const and title, and arrays whose items are one of those or `anyOf`. Titles are shown, values are sent.
 */

import { assertPossible, boundAt, isCount } from './bounds.js';
import { allowOnly } from './constraints.js';
import type { FieldBase, MultiSelectField, Option, SelectField } from './form.js';
import { GateRefusal } from './gate-refusal.js';
import { pointerTo } from './json-pointer.js';
import type { GateCaps } from './policy.js';
import { extended, labelAt, objectAt, type JsonObject } from './server-json.js';

/** Whether a schema of type string is a choice and no free text. */
export function isChoice(schema: JsonObject): boolean {
  return schema['enum'] !== undefined || schema['oneOf'] !== undefined;
}

/** @throws {GateRefusal} on anything that Parley could not show or enforce */
export function readSelect(base: FieldBase, schema: JsonObject, path: string, caps: GateCaps): SelectField {
  allowOnly(['type', 'enum', 'oneOf'], schema, path);
  const options = readOptions(schema, ['enum', 'oneOf'], path, caps);
  const preset = schema['default'] === undefined ? undefined : optionAt(schema['default'], options, `${path}/default`);
  return extended(base, { type: 'select', options, default: preset });
}

/** @throws {GateRefusal} on anything that Parley could not show or enforce */
export function readMultiSelect(base: FieldBase, schema: JsonObject, path: string, caps: GateCaps): MultiSelectField {
  // uniqueItems is enforced whether or not the server asks for it.
  allowOnly(['type', 'items', 'minItems', 'maxItems', 'uniqueItems'], schema, path);
  const items = objectAt(schema['items'], `${path}/items`, 'field_kind_unsupported');
  allowOnly(['type', 'enum', 'oneOf', 'anyOf'], items, `${path}/items`);
  if (items['type'] !== undefined && items['type'] !== 'string') {
    throw new GateRefusal('field_kind_unsupported', `${path}/items`);
  }
  const options = readOptions(items, ['enum', 'oneOf', 'anyOf'], `${path}/items`, caps);
  const minItems = boundAt(schema, 'minItems', path, isCount);
  const maxItems = boundAt(schema, 'maxItems', path, isCount);
  assertPossible(minItems ?? 0, Math.min(maxItems ?? Infinity, options.length), path);
  const preset = readDefaults(schema['default'], options, `${path}/default`);
  return extended(base, { type: 'multiselect', options, minItems, maxItems, default: preset });
}

type Spelling = 'enum' | 'oneOf' | 'anyOf';

function readOptions(schema: JsonObject, spellings: readonly Spelling[], path: string, caps: GateCaps): Option[] {
  const [spelling, second] = spellings.filter((keyword) => schema[keyword] !== undefined);
  if (spelling === undefined) throw new GateRefusal('field_kind_unsupported', path);
  // Two spellings at once would be two constraints; which of them is shown?
  if (second !== undefined) throw new GateRefusal('schema_keyword_unsupported', pointerTo(path, second));

  const list = listAt(schema[spelling], pointerTo(path, spelling));
  if (list.length === 0) throw new GateRefusal('bounds_impossible', pointerTo(path, spelling));
  if (list.length > caps.maxOptions) throw new GateRefusal('too_many_options', pointerTo(path, spelling));
  const options = spelling === 'enum' ? plainOptions(list, schema, path, caps) : titledOptions(list, spelling, path, caps);

  const values = new Set<string>();
  options.forEach(({ value }, index) => {
    if (values.has(value)) throw new GateRefusal('option_repeated', pointerTo(pointerTo(path, spelling), index));
    values.add(value);
  });
  return options;
}

function plainOptions(values: readonly unknown[], schema: JsonObject, path: string, caps: GateCaps): Option[] {
  const titles = schema['enumNames'] === undefined ? values : listAt(schema['enumNames'], `${path}/enumNames`);
  if (titles.length !== values.length) throw new GateRefusal('schema_malformed', `${path}/enumNames`);
  return values.map((value, index) => ({
    value: labelAt(value, pointerTo(`${path}/enum`, index), caps),
    title: labelAt(titles[index], pointerTo(`${path}/enumNames`, index), caps),
  }));
}

function titledOptions(list: readonly unknown[], spelling: Spelling, path: string, caps: GateCaps): Option[] {
  return list.map((raw, index) => {
    const at = pointerTo(pointerTo(path, spelling), index);
    const option = objectAt(raw, at, 'schema_malformed');
    allowOnly(['const', 'type'], option, at);
    if (option['type'] !== undefined && option['type'] !== 'string') throw new GateRefusal('schema_malformed', `${at}/type`);
    const value = labelAt(option['const'], `${at}/const`, caps);
    return { value, title: option['title'] === undefined ? value : labelAt(option['title'], `${at}/title`, caps) };
  });
}

function readDefaults(raw: unknown, options: readonly Option[], path: string): string[] | undefined {
  if (raw === undefined) return undefined;
  if (!Array.isArray(raw) || new Set(raw).size !== raw.length) throw new GateRefusal('default_invalid', path);
  return raw.map((value, index) => optionAt(value, options, pointerTo(path, index)));
}

function optionAt(raw: unknown, options: readonly Option[], path: string): string {
  const option = options.find(({ value }) => value === raw);
  if (option === undefined) throw new GateRefusal('default_invalid', path);
  return option.value;
}

function listAt(raw: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(raw)) throw new GateRefusal('schema_malformed', path);
  return raw;
}
