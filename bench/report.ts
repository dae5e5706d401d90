/** What a run found: the figures, their table for people, and the surroundings that they are worth nothing without. */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from 'redis';
import { root } from '../tools/root.js';
import type { Amount, Latencies, Throughput } from './measures.js';
import type { Rig } from './rig.js';
import { quantilesOf, rounded, type Quantiles } from './stats.js';
import type { Steps } from './steps.js';

/** Parley's share over the floor's: of p50 for a latency, of calls per second for throughput. */
export interface Report {
  readonly passThrough: { parley: Quantiles; temporal: Quantiles; sdk: Quantiles; ratio: number };
  readonly answerToRetry: { parley: Quantiles; temporal: Quantiles; ratio: number };
  readonly throughput: { parley: number; temporal: number; ratio: number };
  /** Of a warm pass-through, at the MCP server. */
  readonly postsPerCall: number;
  /** Median milliseconds of each step. */
  readonly steps: { readonly passThrough: Latencies['steps']; readonly answerToRetry: Latencies['steps'] };
  /** Of a call while calls per second were counted. */
  readonly latencyAtOnce: { readonly parley: Quantiles; readonly temporal: Quantiles };
  /** Milliseconds of CPU per call while calls per second were counted, by process. */
  readonly cpuPerCall: Throughput['cpuPerCall'];
  readonly surroundings: Surroundings;
}

export interface Surroundings {
  readonly measuredAt: string;
  readonly commit: string;
  readonly node: string;
  readonly machine: { cpu: string; cores: number; memoryGb: number; os: string; loadAtStart: number; loadAtEnd: number };
  readonly versions: Readonly<Record<string, string>>;
  /** Blocks of each side, and calls in each. */
  readonly amounts: Readonly<Record<string, Amount>>;
}

export interface Found {
  readonly passThrough: Latencies;
  readonly answers: Latencies;
  readonly throughput: Throughput;
  readonly postsPerCall: number;
}

export function reportOf({ passThrough, answers, throughput, postsPerCall }: Found, surroundings: Surroundings): Report {
  const quantiles = ({ samples }: Pick<Latencies, 'samples'>, side: string): Quantiles => quantilesOf(samples[side] ?? []);
  const pair = (latencies: Pick<Latencies, 'samples'>) => ({
    parley: quantiles(latencies, 'parley'),
    temporal: quantiles(latencies, 'temporal'),
  });
  const through = pair(passThrough);
  const answered = pair(answers);
  const { parley, temporal } = throughput.callsPerSecond;
  return {
    passThrough: { ...through, sdk: quantiles(passThrough, 'sdk'), ratio: rounded(through.parley.p50 / through.temporal.p50) },
    answerToRetry: { ...answered, ratio: rounded(answered.parley.p50 / answered.temporal.p50) },
    throughput: { parley, temporal, ratio: rounded(parley / temporal) },
    postsPerCall,
    steps: { passThrough: passThrough.steps, answerToRetry: answers.steps },
    latencyAtOnce: pair(throughput),
    cpuPerCall: throughput.cpuPerCall,
    surroundings,
  };
}

/** @param loadAtStart one-minute load of the machine before the run: a busy one makes all figures worse, and the ratios less certain */
export async function surroundingsOf(
  rig: Rig,
  loadAtStart: number,
  amounts: Readonly<Record<string, Amount>>,
): Promise<Surroundings> {
  const processors = cpus();
  return {
    measuredAt: new Date().toISOString(),
    commit: await commit(),
    node: process.version,
    machine: {
      cpu: processors[0]?.model ?? 'unknown',
      cores: processors.length,
      memoryGb: rounded(totalmem() / 2 ** 30, 1),
      os: `${platform()} ${release()} ${arch()}`,
      loadAtStart: rounded(loadAtStart),
      loadAtEnd: rounded(loadavg()[0] ?? 0),
    },
    versions: await versionsOf(rig),
    amounts,
  };
}

export function tableOf(report: Report): string {
  const { passThrough, answerToRetry, throughput, latencyAtOnce, steps, cpuPerCall, surroundings, postsPerCall } = report;
  const both = ({ p50, p99 }: Quantiles): string => `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  const { machine, node, commit: at } = surroundings;
  return [
    columns([
      ['', 'Parley', 'bare Temporal', 'MCP SDK', 'ratio', 'goal'],
      latencyRow('(a) pass-through, ms p50 / p99', passThrough, both(passThrough.sdk)),
      latencyRow('(b) answer → retry, ms p50 / p99', answerToRetry, ''),
      ['(c) calls/s, 20 at once', String(throughput.parley), String(throughput.temporal), '', String(throughput.ratio), '≥ 0.8'],
      ['    of each call, ms p50 / p99', both(latencyAtOnce.parley), both(latencyAtOnce.temporal)],
    ]),
    `POSTs to the MCP server per warm pass-through: ${postsPerCall}`,
    stepTable('Where (a) goes, median ms', steps.passThrough),
    stepTable('Where (b) goes, median ms', steps.answerToRetry),
    stepTable('CPU per call in (c), ms', cpuPerCall),
    `${machine.cpu}, ${machine.cores} cores, load ${machine.loadAtStart} → ${machine.loadAtEnd}; Node ${node}; commit ${at}`,
  ].join('\n\n');

  function latencyRow(name: string, row: { parley: Quantiles; temporal: Quantiles; ratio: number }, sdk: string): string[] {
    return [name, both(row.parley), both(row.temporal), sdk, String(row.ratio), '≤ 1.25'];
  }
}

function stepTable(title: string, { parley, temporal }: Readonly<Record<'parley' | 'temporal', Steps>>): string {
  const sum = (steps: Steps): number => Object.values(steps).reduce((total, ms) => total + ms, 0);
  const row = (name: string, ours: number | undefined, floors: number | undefined): string[] => [
    name,
    ours?.toFixed(1) ?? '–',
    floors?.toFixed(1) ?? '–',
    ((ours ?? 0) - (floors ?? 0)).toFixed(1),
  ];
  const names = [...new Set([...Object.keys(parley), ...Object.keys(temporal)])];
  return columns([
    [title, 'Parley', 'bare', 'more'],
    ...names.map((name) => row(name, parley[name], temporal[name])),
    row('sum', sum(parley), sum(temporal)),
  ]);
}

/** First column to the left, the others to the right. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n');
}

async function commit(): Promise<string> {
  const git = async (...args: string[]): Promise<string> => (await promisify(execFile)('git', args, { cwd: root })).stdout.trim();
  try {
    const isChanged = (await git('status', '--porcelain', '--untracked-files=no')) !== '';
    return `${await git('rev-parse', '--short=12', 'HEAD')}${isChanged ? ' with changes' : ''}`;
  } catch {
    return 'unknown'; // no repository, as in a container
  }
}

async function versionsOf({ temporal, redisUrl }: Rig): Promise<Record<string, string>> {
  const { serverVersion } = await temporal.workflowService.getSystemInfo({});
  const packages = ['@temporalio/worker', '@modelcontextprotocol/client', '@nestjs/core', 'redis'];
  const installed = await Promise.all(packages.map(async (name) => [name, await installedVersion(name)] as const));
  return { 'Temporal server': serverVersion ?? 'unknown', store: await storeVersion(redisUrl), ...Object.fromEntries(installed) };
}

async function installedVersion(name: string): Promise<string> {
  const text = await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

async function storeVersion(url: string): Promise<string> {
  const client = createClient({ url });
  await client.connect();
  try {
    const told = await client.info('server');
    // Valkey also tells which Redis it passes for.
    const [, name, version] = /^(valkey)_version:(\S+)/m.exec(told) ?? /^(redis)_version:(\S+)/m.exec(told) ?? [];
    return `${name} ${version}`;
  } finally {
    client.destroy();
  }
}
