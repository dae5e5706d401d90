/** The few statistics that the benchmark shows. */

export interface Quantiles {
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** @param sample milliseconds, at least one */
export function quantilesOf(sample: readonly number[], digits?: number): Quantiles {
  return { p50: rounded(quantile(sample, 0.5), digits), p99: rounded(quantile(sample, 0.99), digits) };
}

/** Nearest rank: always a value that was measured. */
export function quantile(sample: readonly number[], q: number): number {
  const sorted = [...sample].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('no quantile of nothing');
  return value;
}

export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

/** The present, epoch milliseconds with fractions: comparable with the event times of a history on the same machine. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
