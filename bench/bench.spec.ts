/** The benchmark runs and says what it promises to say; how fast anything is, is no matter of a test. */

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { built } from '../tools/root.js';
import { quantilesOf } from './stats.js';

const ms = expect.any(Number);
const quantiles = { p50: ms, p99: ms };

test('npm run bench measures Parley beside its floor, and writes what it found', { timeout: 180_000 }, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'parley-bench-spec-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const file = join(dir, 'figures.json');
  const env = { ...process.env, TEMPORAL_ADDRESS: inject('temporalAddress'), REDIS_URL: inject('redisUrl') };
  const { stdout } = await promisify(execFile)(process.execPath, [built('bench/bench.js'), '--quick', '--json', file], { env });

  expect(stdout).toMatch(/pass-through.*\n.*answer → retry.*\n.*calls\/s/);
  const report = JSON.parse(await readFile(file, 'utf8'));
  expect(report).toMatchObject({
    passThrough: { parley: quantiles, temporal: quantiles, sdk: quantiles, ratio: ms },
    answerToRetry: { parley: quantiles, temporal: quantiles, ratio: ms },
    throughput: { parley: ms, temporal: ms, ratio: ms },
    latencyAtOnce: { parley: quantiles, temporal: quantiles },
    postsPerCall: 1,
    surroundings: { node: process.version, commit: expect.any(String), machine: { cores: ms }, versions: expect.any(Object) },
  });
  expect(Object.keys(report.passThrough).sort()).toEqual(['parley', 'ratio', 'sdk', 'temporal']);
  for (const steps of [report.steps.passThrough, report.steps.answerToRetry]) {
    expect(Object.keys(steps.parley)).toEqual(Object.keys(steps.temporal));
  }
});

test('npm run bench:gate measures the gate, and shows its goal', { timeout: 120_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [built('bench/gate.js'), '--quick']);
  const [line = '', json = ''] = stdout.trim().split('\n');
  expect(line).toMatch(/gate and form model: p50 [\d.]+ ms, p99 [\d.]+ ms, goal p99 < 1: (met|missed); answer: p50/);
  expect(JSON.parse(json)).toMatchObject({
    gateAndForm: quantiles,
    answer: quantiles,
    goalP99Ms: 1,
    fields: 64,
    iterations: 200,
  });
});

test('a quantile is a value that was measured, by nearest rank', () => {
  const sample = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect(quantilesOf(sample)).toEqual({ p50: 100, p99: 198 });
  expect(quantilesOf([7])).toEqual({ p50: 7, p99: 7 });
  expect(() => quantilesOf([])).toThrow(RangeError);
});
