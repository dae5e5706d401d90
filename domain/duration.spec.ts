import { describe, expect, it } from 'vitest';
import { parseDurationMs } from './duration.js';

describe('parseDurationMs', () => {
  it.each([
    ['P3D', 259_200_000],
    ['P1W', 604_800_000],
    ['PT2M', 120_000],
    ['PT0.2S', 200],
    ['P1DT1H1M1.5S', 90_061_500],
    ['PT0S', 0],
  ])('reads %s', (text, ms) => expect(parseDurationMs(text)).toBe(ms));

  it.each(['', 'P', 'PT', 'P1DT', '3D', 'P1Y', 'P1M', 'P-1D', 'P1.5D', 'PT1H1', 'PT1S1M', 'p3d', ' P3D', 'P3D\n'])(
    'refuses %j',
    (text) => expect(parseDurationMs(text)).toBeUndefined(),
  );
});
