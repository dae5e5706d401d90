/**
 * `errors[].code` of `body_invalid` and `query_invalid`: a closed list, whatever checks the body. The sentences are published in
 * docs/codes.md.
 */

import type { z } from 'zod';
import { isObject } from '../../domain/server-json.js';

export const fieldFaults = {
  missing: 'is required, and not there',
  unknown_member: 'is not known here',
  type_wrong: 'has another JSON type than is taken; of a parameter: is no number where one is taken',
  not_allowed: 'is none of the values that are taken',
  too_small: 'is less, or shorter, than is taken',
  too_big: 'is more, or longer, than is taken',
  format_wrong: 'is not of the format',
  too_deep: 'is nested too deeply',
  invalid: 'does not fit in another way, which `message` says',
} as const;
export type FieldFault = keyof typeof fieldFaults;

type IssueCode = z.core.$ZodIssue['code'];

const faultOf: Readonly<Record<IssueCode, FieldFault>> = {
  unrecognized_keys: 'unknown_member',
  invalid_type: 'type_wrong',
  invalid_value: 'not_allowed',
  invalid_union: 'not_allowed',
  too_small: 'too_small',
  too_big: 'too_big',
  invalid_format: 'format_wrong',
  not_multiple_of: 'invalid',
  invalid_key: 'invalid',
  invalid_element: 'invalid',
  custom: 'invalid',
};

/** @param body what was checked: that a member is not there, no issue says by itself */
export function fieldFaultOf(code: string | undefined, body: unknown, path: readonly PropertyKey[]): FieldFault {
  const fault = Object.hasOwn(faultOf, code ?? '') ? faultOf[code as IssueCode] : 'invalid';
  return path.length > 0 && !isThere(body, path) ? 'missing' : fault;
}

function isThere(body: unknown, path: readonly PropertyKey[]): boolean {
  let value = body;
  for (const part of path) {
    if (Array.isArray(value) ? !(Number(part) < value.length) : !isObject(value) || !Object.hasOwn(value, part)) return false;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return true;
}
