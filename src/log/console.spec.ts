import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { takeOverConsole } from './console.js';
import type { Log } from './log.js';

function taken(level: string) {
  const lines: string[] = [];
  const written = vi.fn<(text: string) => void>();
  const target = { debug: written, log: written, info: written, warn: written, error: written };
  takeOverConsole(pino({ level }, { write: (line) => void lines.push(line) }) as unknown as Log, target);
  return { lines, target, written };
}

describe('takeOverConsole', () => {
  it.each(['debug', 'log', 'info', 'warn', 'error'] as const)(
    'logs that console.%s was called, and where, but no word of it',
    (method) => {
      const { lines, target, written } = taken('debug');
      target[method]("excluding tool 'words of\na server'");
      expect(written).not.toHaveBeenCalled();
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toContain('words');
      expect(JSON.parse(lines[0]!)).toMatchObject({ event: 'console' });
      expect(lines[0]).toContain('console.spec.ts');
    },
  );

  it('says nothing of warnings at the usual level: a server could have any number of them written', () => {
    const { lines, target } = taken('info');
    target.warn('excluding tool');
    expect(lines).toEqual([]);
    target.error('broken');
    expect(lines).toHaveLength(1);
  });
});
