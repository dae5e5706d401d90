/**
 * Checks bodies, queries and path parameters against the zod schema that the route declares. Nest's own pipe is not used because it
 * deletes `__proto__` members from what it is given, and a tool's arguments are to reach the server as they came.
 */

import { isDeepStrictEqual } from 'node:util';
import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { z } from 'zod';
import { pointerTo } from '../../domain/json-pointer.js';
import { fieldFaultOf, fieldFaults } from './field-faults.js';
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
    const issues = [...result.issues, ...(await hiddenIssues(schema, value, result.issues))];
    const errors = issues.flatMap((issue) => fieldErrorsOf(issue, value)).slice(0, maxErrors);
    throw new Problem(type === 'body' ? 'body_invalid' : 'query_invalid', { errors });
  }
}

/**
 * A union whose discriminator fits none of its options says nothing of the other members: what every option finds wrong with them is
 * wrong whichever was meant.
 */
async function hiddenIssues(schema: unknown, value: unknown, issues: readonly Issue[]): Promise<readonly Issue[]> {
  if (!(schema instanceof z.ZodDiscriminatedUnion) || !issues.some(({ code }) => code === 'invalid_union')) return [];
  const found = schema.options.map((option) => (option as z.ZodType).safeParse(value).error?.issues ?? []);
  const [first = [], ...others] = found.map((each) => each.filter(({ path }) => path[0] !== schema.def.discriminator));
  return first.filter((issue) => others.every((each) => each.some((other) => isDeepStrictEqual(issue, other))));
}

function fieldErrorsOf(issue: Issue, value: unknown): FieldError[] {
  const path = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part));
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => ({
      pointer: pointer([...path, key]),
      code: 'unknown_member',
      message: fieldFaults.unknown_member,
    }));
  }
  const code = fieldFaultOf(issue.code, value, path);
  return [{ pointer: pointer(path), code, message: code === 'missing' ? fieldFaults.missing : issue.message }];
}

function pointer(path: readonly PropertyKey[]): string {
  const whole = path.reduce<string>((start, part) => pointerTo(start, String(part)), '');
  return whole.length > maxPointerLength ? `${whole.slice(0, maxPointerLength)}…` : whole;
}
