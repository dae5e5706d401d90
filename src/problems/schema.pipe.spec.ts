import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Problem } from './problem.js';
import { SchemaPipe } from './schema.pipe.js';

const check = (schema: z.ZodType, value: unknown, type: 'body' | 'query' | 'custom' = 'body') =>
  new SchemaPipe().transform(value, { type, schema });
const refusalOf = async (schema: z.ZodType, value: unknown, type?: 'query') =>
  check(schema, value, type).then(
    () => undefined,
    (problem: Problem) => problem,
  );

describe('SchemaPipe', () => {
  it('points at every unknown member, escaped as RFC 6901 has it', async () => {
    const problem = await refusalOf(
      z.strictObject({ in: z.strictObject({}) }),
      JSON.parse('{"in":{"a/b":1,"c~d":2},"__proto__":3}'),
    );
    expect(problem?.code).toBe('body_invalid');
    expect(problem?.extra.errors).toEqual(
      expect.arrayContaining([
        { pointer: '/in/a~1b', code: 'unknown_member', message: 'is not known here' },
        { pointer: '/in/c~0d', code: 'unknown_member', message: 'is not known here' },
      ]),
    );
  });

  it('leaves what a schema passes through untouched, __proto__ included', async () => {
    const body = JSON.parse('{"arguments":{"__proto__":{"x":1},"constructor":{"prototype":2}}}') as unknown;
    expect(JSON.stringify(await check(z.strictObject({ arguments: z.unknown() }), body))).toBe(JSON.stringify(body));
  });

  it('says that it was the address and not the body (query_invalid)', async () => {
    expect((await refusalOf(z.strictObject({}), { a: 1 }, 'query'))?.code).toBe('query_invalid');
  });

  it('bounds the reply to a body that is wrong everywhere', async () => {
    const problem = await refusalOf(
      z.array(z.string()),
      Array.from({ length: 1000 }, () => 1),
    );
    expect(problem?.extra.errors).toHaveLength(50);
    const long = await refusalOf(z.strictObject({}), { ['x'.repeat(9999)]: 1 });
    expect(long?.extra.errors?.[0]?.pointer.length).toBeLessThan(300);
  });

  it('leaves what a decorator of ours made alone', async () => expect(await check(z.string(), 7, 'custom')).toBe(7));
});
