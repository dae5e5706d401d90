/**
 * `npm run test:soak [-- --seconds N] [--per-second N] [--seed N] [--json FILE]`: mixed calls at a steady rate, while something is killed every
 * ten seconds. No effect is made twice, no call is lost, no answer is lost, and memory stays within bounds.
 */

import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { readArgs } from '../../tools/command-line.js';
import { Call, type Seen } from './call.js';
import { wrongWith } from './judge.js';
import { MemoryWatch, type Peak } from './memory.js';
import { methods } from './moments.js';
import { forgetServices } from './own-services.js';
import { Person } from './person.js';
import { Rig } from './rig.js';

const victims = ['worker', 'api', 'mcp'] as const;
type Victim = (typeof victims)[number];

interface Report {
  readonly seconds: number;
  readonly perSecond: number;
  readonly seed: number;
  readonly calls: number;
  readonly kills: Readonly<Record<Victim, number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly effects: number;
  /** Mebibytes of resident memory at most, over all processes of a kind. */
  readonly peakMiB: Readonly<Record<string, Peak>>;
  readonly wrong: readonly string[];
}

const killEveryMs = 10_000;
/** After the last kill: a lost leg is given up, two rounds are answered, and what has piled up meanwhile is worked off. */
const patienceMs = 180_000;
/** Of an API or a worker. Twice what they take when nothing is wrong. */
const maxMiB = 768;

const usage = `npm run test:soak -- [options]
  --seconds N      how long; default 300
  --per-second N   calls begun each second; default 2
  --seed N         of what is called and killed, printed in the report
  --json FILE      writes the report to a file as well`;
const values = readArgs(usage, {
  seconds: { type: 'string', default: '300' },
  'per-second': { type: 'string', default: '2' },
  seed: { type: 'string', default: String(Date.now() % 100_000) },
  json: { type: 'string' },
});
const seconds = Number(values.seconds);
const perSecond = Number(values['per-second']);
const seed = Number(values.seed);

forgetServices();
const rig = await Rig.start();

async function soak(): Promise<Report> {
  const calls: Call[] = [];
  const ends: Promise<Seen | undefined>[] = [];
  const person = new Person(rig, calls);
  const memory = new MemoryWatch(() => ({ api: rig.api().pid, worker: rig.worker.pid }));
  const stopAt = Date.now() + seconds * 1_000;
  const killing = killUntil(stopAt);
  for (let n = 0; Date.now() < stopAt; n++) {
    const call = new Call(rig, methods[n % methods.length]!, { name: `soak-${n}` });
    calls.push(call);
    ends.push(endOf(call, stopAt + patienceMs));
    await delay(1_000 / perSecond);
  }
  const kills = await killing;
  const seen = await Promise.all(ends);
  person.leave();
  const peakMiB = memory.stop();
  const rows = await rig.serverRows();
  const wrong = calls.flatMap((call, n) => {
    const own = rows.filter((row) => row.call === call.key);
    const endings = ['completed', 'indeterminate/leg_unknown'] as const;
    const facts = { ...call.facts, endings, mayAskAgain: false, seen: seen[n], rows: own };
    return wrongWith(facts).map((what) => `${call.key}: ${what}`);
  });
  const tooMuch = Object.entries(peakMiB).filter(([, { peak }]) => peak > maxMiB);
  return {
    seconds,
    perSecond,
    seed,
    calls: calls.length,
    kills,
    outcomes: countsOf(seen.map((each) => each?.outcome ?? 'open')),
    effects: rows.filter(({ is }) => is === 'effect').length,
    peakMiB,
    wrong: [...wrong, ...tooMuch.map(([name, { peak }]) => `${name}: ${peak} MiB, and at most ${maxMiB} are allowed`)],
  };
}

/** @returns nothing for a call that could not be started, which is lost like one that nobody shows */
async function endOf(call: Call, atLatest: number): Promise<Seen | undefined> {
  const isStarted = await call.start().then(
    () => true,
    () => false,
  );
  return isStarted ? call.ended(atLatest - Date.now(), 4_000) : undefined;
}

/** One at a time, so that what is killed is there to be killed. */
async function killUntil(stopAt: number): Promise<Record<Victim, number>> {
  const kills = { worker: 0, api: 0, mcp: 0 };
  const random = randomFrom(seed);
  for (let at = Date.now() + killEveryMs; at < stopAt; at += killEveryMs) {
    await delay(Math.max(0, at - Date.now()));
    const victim = victims[Math.floor(random() * victims.length)]!;
    kills[victim]++;
    await kill[victim]();
  }
  return kills;
}

const kill: Readonly<Record<Victim, () => Promise<void>>> = {
  worker: async () => {
    await rig.worker.kill();
    await rig.startWorker();
  },
  api: async () => {
    await rig.api().kill();
    await rig.startApi();
  },
  mcp: async () => {
    await rig.mcp.kill();
    await rig.startMcp();
  },
};

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Mulberry32: the same seed kills the same. */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

try {
  rig.keeper.open();
  await rig.tellMcp('release');
  const report = await soak();
  const text = JSON.stringify(report, null, 2);
  if (values.json !== undefined) await writeFile(values.json, `${text}\n`);
  console.log(text);
  process.exitCode = report.wrong.length === 0 ? 0 : 1;
} finally {
  await rig.stop();
}
