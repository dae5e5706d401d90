import { describe, expect, it } from 'vitest';
import { keptOf } from '../../test/harness/garbage.js';
import { LineReader, type Line } from './line-reader.js';

function linesOf(text: string, chunkBytes: number, maxBytes = 1_000): { lines: Line[]; isTaken: boolean } {
  const lines: Line[] = [];
  const reader = new LineReader(maxBytes, (line) => lines.push(line));
  const bytes = Buffer.from(text);
  let isTaken = true;
  for (let at = 0; at < bytes.length && isTaken; at += chunkBytes) isTaken = reader.take(bytes.subarray(at, at + chunkBytes));
  return { lines, isTaken };
}

describe('LineReader', () => {
  it('gives the same lines however the bytes are cut', () => {
    const long = 'x'.repeat(300);
    for (const chunkBytes of [1, 2, 3, 7, 1_000]) {
      const { lines } = linesOf(`{"a":"é🙂"}\n\n${long}\n[1,2]\nnot ended`, chunkBytes);
      expect(lines.map(({ text }) => text)).toEqual(['{"a":"é🙂"}', '', long, '[1,2]']);
      expect(lines.map(({ bytes }) => bytes)).toEqual([14, 0, 300, 5]);
      expect(lines.map(({ values }) => values)).toEqual([1, 0, 0, 2]);
    }
  });

  it('takes a line as long as the bound, and none that is longer', () => {
    for (const chunkBytes of [1, 3, 1_000]) {
      expect(linesOf(`${'x'.repeat(100)}\n`, chunkBytes, 100)).toMatchObject({ isTaken: true, lines: [{ bytes: 100 }] });
      expect(linesOf('x'.repeat(101), chunkBytes, 100)).toEqual({ isTaken: false, lines: [] });
    }
  });

  it('holds no chunk of a line that is not ended: byte by byte they would take hundreds of times its length', async () => {
    const lines: Line[] = [];
    const reader = new LineReader(10_000, (line) => lines.push(line));
    const kept = await keptOf(10_000, () => {
      const chunk = Buffer.alloc(1, 'x');
      expect(reader.take(chunk)).toBe(true);
      return chunk.buffer;
    });
    expect(kept).toBeLessThan(10);
    reader.take(Buffer.from('\n'));
    expect(lines).toMatchObject([{ bytes: 10_000, text: 'x'.repeat(10_000) }]);
  });
});
