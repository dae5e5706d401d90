/**
 * How the gate reads a server's JSON: no cast without a check, nothing repaired, and every member name is data. Objects come from
 * `JSON.parse`, so `__proto__` is an own member like any other; copies of them must be made with `Object.fromEntries`.
 */

import { GateRefusal, type GateCode } from './gate-refusal.js';
import type { GateCaps } from './policy.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** @returns undefined for what is no JSON */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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

/** As `T`, with every member that may be `undefined` absent instead. */
export type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * A copy without the members that are `undefined`: an absent keyword stays an absent member of the model. For members that Parley names,
 * never for a server's: it is assigned to, so one named `__proto__` would be lost.
 */
export function present<const T extends object>(members: T): Present<T> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept as Present<T>;
}

/**
 * A copy of `base` with more members, without those that are `undefined`. The gate makes many: of `{ ...base, more }` V8 makes, slowly, a
 * dictionary of its own where it has seen more than a few shapes of `base`, and such garbage outlives its first collections.
 */
export function extended<B extends object, const T extends object>(base: B, members: T): B & Present<T> {
  return Object.assign({}, base, present(members));
}

/** Whether objects and arrays stand within each other more than so many deep. It looks no deeper than that, so the stack has room for it. */
export function isDeeperThan(maxDepth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return maxDepth === 0 || Object.values(value).some((each) => isDeeperThan(maxDepth - 1, each));
}
