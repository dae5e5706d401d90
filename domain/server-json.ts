/**
 * How the gate reads a server's JSON: no cast without a check, nothing repaired, and every member name is data. Objects come from
 * `JSON.parse`, so `__proto__` is an own member like any other; copies of them must be made with `Object.fromEntries`.
 */

import { GateRefusal, type GateCode } from './gate-refusal.js';
import type { GateCaps } from './policy.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws {GateRefusal} `code` when `value` is no object */
export function objectAt(value: unknown, path: string, code: GateCode): JsonObject {
  if (!isObject(value)) throw new GateRefusal(code, path);
  return value;
}

/** Bounds on one text, and the codes that say which one was broken. */
export interface TextRule {
  /** Of UTF-8. */
  readonly maxBytes: number;
  readonly malformed: GateCode;
  readonly tooLong: GateCode;
}

/**
 * A text that a person will be shown, exact.
 *
 * @throws {GateRefusal} one of the rule's codes, or `text_not_unicode`: RFC 8785 has no digest for half a surrogate pair
 */
export function textAt(value: unknown, path: string, rule: TextRule): string {
  if (typeof value !== 'string') throw new GateRefusal(rule.malformed, path);
  if (Buffer.byteLength(value) > rule.maxBytes) throw new GateRefusal(rule.tooLong, path);
  if (!isUnicode(value)) throw new GateRefusal('text_not_unicode', path);
  return value;
}

/** A name, title, description or option. @throws {GateRefusal} */
export function labelAt(value: unknown, path: string, caps: GateCaps): string {
  return textAt(value, path, { maxBytes: caps.maxLabelBytes, malformed: 'schema_malformed', tooLong: 'label_too_long' });
}

/** False when the text holds half of a surrogate pair. */
export function isUnicode(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** A copy without the members that are `undefined`: an absent keyword stays an absent member of the model. */
export function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
