/** Lower and upper bounds of a form field: read from its schema, and proven to leave something between them. */

import { GateRefusal } from './gate-refusal.js';
import { pointerTo } from './json-pointer.js';
import type { JsonObject } from './server-json.js';

/** For lengths and numbers of items. */
export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/**
 * One bound, if the schema has it.
 *
 * @param fits what the keyword may hold; `1e999` parses to Infinity, so finite numbers are not a matter of course
 * @throws {GateRefusal} `schema_malformed`
 */
export function boundAt(schema: JsonObject, keyword: string, path: string, fits: (value: number) => boolean): number | undefined {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !fits(value)) throw new GateRefusal('schema_malformed', pointerTo(path, keyword));
  return value;
}

/** @throws {GateRefusal} `bounds_impossible` when nothing lies between `least` and `most`, both included */
export function assertPossible(least: number, most: number, path: string): void {
  if (least > most) throw new GateRefusal('bounds_impossible', path);
}
