import { describe, expect, it } from 'vitest';
import { keptOf } from '../../test/harness/garbage.js';
import { outputFault } from './output.js';
import type { ToolDefinition } from './tool-definition.js';

const toolWith = (outputSchema?: object) =>
  ({ name: 't', inputSchema: { type: 'object' }, ...(outputSchema && { outputSchema }) }) as ToolDefinition;
const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const fault = (outputSchema: object | undefined, structuredContent: unknown, more: object = {}) =>
  outputFault(toolWith(outputSchema), { content: [], ...(structuredContent !== undefined && { structuredContent }), ...more });

describe('the output of a tool', () => {
  it('fits when its schema says so, or when there is none', () => {
    expect(fault(schema, { n: 1 })).toBeUndefined();
    expect(fault(undefined, { anything: true })).toBeUndefined();
    expect(fault({ type: 'string', format: 'email' }, 'a@example.com')).toBeUndefined();
  });

  it('is not looked at when the tool reports an error', () => {
    expect(fault(schema, undefined, { isError: true })).toBeUndefined();
  });

  it('must be there when a schema is', () => {
    expect(fault(schema, undefined)).toContain('no structured content');
    expect(fault({ type: 'null' }, null)).toBeUndefined();
  });

  it('is told by its place and rule, never by its value', () => {
    const said = fault(schema, { n: 'sesame' });
    expect(said).toBe('structured content/n must be integer');
  });

  it.each([
    ['http://json-schema.org/draft-07/schema#', { items: [{ type: 'integer' }] }],
    ['https://json-schema.org/draft/2020-12/schema', { prefixItems: [{ type: 'integer' }] }],
  ])('is read in the dialect %s', (dialect, rule) => {
    const list = { $schema: dialect, type: 'array', ...rule };
    expect(fault(list, [1])).toBeUndefined();
    expect(fault(list, ['x'])).toContain('must be integer');
  });

  it('may use unknown annotations and formats', () => {
    expect(fault({ type: 'string', format: 'colour', 'x-note': 1, example: 2 }, 'red')).toBeUndefined();
  });

  it.each([
    ['another dialect', { $schema: 'http://json-schema.org/draft-04/schema#' }],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['a broken pattern', { type: 'string', pattern: '(' }],
    ['no schema at all', { type: 'colour' }],
  ])('cannot be checked against %s', (_, bad) => {
    expect(fault(bad, 'x')).toContain('could not be checked');
  });

  it('cannot hold the worker up with a pattern that takes for ever', () => {
    const startedAt = performance.now();
    expect(fault({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`)).toContain('timed out');
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(fault(schema, { n: 1 })).toBeUndefined();
  });

  it('is checked at once also when its schema says $async, whose validator would reject a promise that nobody awaits', () => {
    expect(fault({ ...schema, $async: true }, {})).toContain("must have required property 'n'");
    expect(fault({ ...schema, $async: true }, { n: 1 })).toBeUndefined();
    const referred = { type: 'object', $defs: { a: { $async: true, ...schema } }, properties: { a: { $ref: '#/$defs/a' } } };
    expect(fault(referred, { a: {} })).toContain('could not be checked');
  });

  it('does not keep a validator of every schema it has ever seen, compiled or not', { timeout: 180_000 }, async () => {
    const kept = await keptOf(1_000, (index) => {
      // What ajv keeps of a schema are its parts: a worker that keeps validators keeps them.
      const properties = { [`n${index}`]: { type: index % 3 === 0 ? 'colour' : 'integer' } };
      fault({ type: 'object', properties }, {});
      return properties;
    });
    expect(kept).toBeLessThanOrEqual(256);
    expect(fault(schema, { n: 'x' })).toContain('must be integer');
  });

  it('does not mix up tools whose schemas claim one $id', () => {
    const claim = (type: string) => ({ $id: 'https://example.com/s', type });
    expect(fault(claim('string'), 'x')).toBeUndefined();
    expect(fault(claim('integer'), 'x')).toContain('must be integer');
  });
});
