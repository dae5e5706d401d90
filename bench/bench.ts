/**
 * `npm run bench [-- --quick] [--json FILE] [--profile DIR]`: Parley beside the least that Temporal can do for the same MCP request, on the
 * same services, in the same run (bench/README.md).
 */

import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { readArgs } from '../tools/command-line.js';
import { countPosts, measureAnswers, measurePassThrough, measureThroughput, type Amount } from './measures.js';
import { reportOf, surroundingsOf, tableOf, type Report } from './report.js';
import { startRig, type Rig } from './rig.js';

interface Amounts extends Record<string, Amount> {
  /** Not counted: compiles code, fills caches. */
  readonly warmUp: Amount;
  readonly passThrough: Amount;
  readonly answerToRetry: Amount;
  readonly throughput: Amount;
}

const full: Amounts = {
  warmUp: { rounds: 2, calls: 100 },
  passThrough: { rounds: 20, calls: 20 },
  answerToRetry: { rounds: 20, calls: 6 },
  throughput: { rounds: 10, calls: 100 },
};

/** Shows that it works; its figures mean nothing. */
const quick: Amounts = {
  warmUp: { rounds: 1, calls: 2 },
  passThrough: { rounds: 2, calls: 3 },
  answerToRetry: { rounds: 2, calls: 1 },
  throughput: { rounds: 1, calls: 20 },
};

const usage = `npm run bench -- [options]
  --quick          shows that it works; its figures mean nothing
  --json FILE      writes the report to a file as well
  --profile DIR    writes CPU profiles of the processes to a folder`;
const values = readArgs(usage, {
  json: { type: 'string' },
  quick: { type: 'boolean', default: false },
  profile: { type: 'string' },
});
const loadAtStart = loadavg()[0] ?? 0;
const log = (line: string): void => console.error(line);

const rig = await startRig({ log, profileDir: values.profile });
try {
  const report = await run(rig, values.quick ? quick : full);
  console.log(`\n${tableOf(report)}`);
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`);
} finally {
  await rig.stop();
}

async function run(on: Rig, amounts: Amounts): Promise<Report> {
  log('warming up');
  await measureThroughput(on, amounts.warmUp);
  const postsPerCall = await countPosts(on, 5);
  log('(a) pass-through');
  const passThrough = await measurePassThrough(on, amounts.passThrough);
  log('(b) answer → retry');
  const answers = await measureAnswers(on, amounts.answerToRetry);
  log('(c) calls per second');
  const throughput = await measureThroughput(on, amounts.throughput);
  const surroundings = await surroundingsOf(on, loadAtStart, amounts);
  return reportOf({ passThrough, answers, throughput, postsPerCall }, surroundings);
}
