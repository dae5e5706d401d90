import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AnswerBody } from '../consents/consents.contract.js';
import { StartBody } from '../invocations/invocations.contract.js';
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

  it.each<[string, z.ZodType, unknown, string, string]>([
    ['a member that is not there', z.object({ a: z.string() }), {}, '/a', 'missing'],
    ['one that is there and undefined in no JSON', z.object({ a: z.string() }), { a: null }, '/a', 'type_wrong'],
    ['another type', z.object({ a: z.string() }), { a: 1 }, '/a', 'type_wrong'],
    ['another type at the root', z.object({}), [], '', 'type_wrong'],
    ['none of the values', z.object({ a: z.enum(['x']) }), { a: 'y' }, '/a', 'not_allowed'],
    ['none of the options', z.discriminatedUnion('a', [z.object({ a: z.literal('x') })]), { a: 'y' }, '/a', 'not_allowed'],
    ['too short a text', z.object({ a: z.string().min(1) }), { a: '' }, '/a', 'too_small'],
    ['too long a list', z.object({ a: z.array(z.int()).max(1) }), { a: [1, 2] }, '/a', 'too_big'],
    ['no date', z.object({ a: z.iso.date() }), { a: 'x' }, '/a', 'format_wrong'],
    ['a check of our own', z.object({ a: z.string().refine(() => false, 'no') }), { a: 'x' }, '/a', 'invalid'],
    ['an item of a list', z.array(z.int()), [1, 'x'], '/1', 'type_wrong'],
  ])('has a code of its own list for %s', async (_, schema, value, pointer, code) => {
    expect((await refusalOf(schema, value))?.extra.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  it('tells every error at once, also where the option that was meant is unknown', async () => {
    const errors = (await refusalOf(StartBody, { method: 'tools/cull', server: 7, policy: { maxRounds: -1 }, more: 1 }))?.extra
      .errors;
    expect(errors?.map(({ pointer, code }) => `${pointer} ${code}`).toSorted()).toEqual([
      '/method not_allowed',
      '/more unknown_member',
      '/params missing',
      '/policy/maxRounds too_small',
      '/server type_wrong',
    ]);
    const answer = (await refusalOf(AnswerBody, {}))?.extra.errors;
    expect(answer?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual(['/digest missing', '/responses missing']);
    expect((await refusalOf(AnswerBody, { digest: 'd' }))?.extra.errors).toMatchObject([
      { pointer: '/responses', code: 'missing' },
    ]);
  });

  it('leaves what a decorator of ours made alone', async () => expect(await check(z.string(), 7, 'custom')).toBe(7));
});
