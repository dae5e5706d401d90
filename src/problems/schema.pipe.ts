/**
 * Checks bodies, queries and path parameters against the zod schema that the route declares. Nest's own pipe is not used because it
 * deletes `__proto__` members from what it is given, and a tool's arguments are to reach the server as they came.
 */

import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { pointerTo } from '../../domain/json-pointer.js';
import { type FieldError, Problem } from './problem.js';

/** More than anyone corrects at once, and a bound on what a bad body can make the reply hold. */
const maxErrors = 50;
const maxPointerLength = 256;

/** What zod adds to a Standard Schema issue. */
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  readonly code?: string;
  readonly keys?: readonly string[];
}

@Injectable()
export class SchemaPipe implements PipeTransform {
  async transform(value: unknown, { type, schema }: ArgumentMetadata): Promise<unknown> {
    if (schema === undefined || type === 'custom') return value;
    const result = await schema['~standard'].validate(value);
    if (result.issues === undefined) return result.value;
    const errors = result.issues.flatMap(fieldErrorsOf).slice(0, maxErrors);
    throw new Problem(type === 'body' ? 'body_invalid' : 'query_invalid', { errors });
  }
}

function fieldErrorsOf(issue: Issue): FieldError[] {
  const path = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part));
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => ({
      pointer: pointer([...path, key]),
      code: 'unknown_member',
      message: 'is not known here',
    }));
  }
  return [{ pointer: pointer(path), code: issue.code ?? 'invalid', message: issue.message }];
}

function pointer(path: readonly PropertyKey[]): string {
  const whole = path.reduce<string>((start, part) => pointerTo(start, String(part)), '');
  return whole.length > maxPointerLength ? `${whole.slice(0, maxPointerLength)}…` : whole;
}
