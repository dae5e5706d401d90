import { describe, expect, it } from 'vitest';
import { ValueCount } from './value-count.js';

const countOf = (text: string, chunkBytes = 1_000): number => {
  const count = new ValueCount();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) count.add(bytes.subarray(at, at + chunkBytes));
  return count.total;
};

describe('ValueCount', () => {
  it.each([
    ['[]', 1],
    ['[[],[]]', 4],
    ['{"a":1,"b":{"c":[1,2,3]}}', 6],
    ['"a,b,[{"', 0],
    [String.raw`["a\",{[","\\",1]`, 3],
    ['{"é,🙂":"\u2028,"}', 1],
  ])('of %s is %i, however it is cut', (text, total) => {
    for (const chunkBytes of [1, 2, 3, 1_000]) expect(countOf(text, chunkBytes)).toBe(total);
  });

  it('starts anew on every line of an event stream, whatever stood there before', () => {
    expect(countOf(': a comment with one "\ndata: [1,2]\n\n')).toBe(2);
    expect(countOf(': and one with \\\ndata: [1,2]\r\n\r\n')).toBe(2);
  });
});
