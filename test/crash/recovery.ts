/**
 * `npm run test:recovery [-- --calls N] [--json FILE]`: parked calls whose worker is killed and whose people answer while it is away. None is
 * lost, and the report says how long after the worker's start each retry is sent.
 */

import { writeFile } from 'node:fs/promises';
import { readArgs } from '../../tools/command-line.js';
import { quantilesOf, rounded, type Quantiles } from '../../bench/stats.js';
import { askedIn, Call, type Seen } from './call.js';
import { wrongWith } from './judge.js';
import { methods } from './moments.js';
import { inTurns } from './in-turns.js';
import { forgetServices } from './own-services.js';
import { Person } from './person.js';
import { Rig, type ServerRow } from './rig.js';

interface Report {
  readonly calls: number;
  /** From the start of the worker's process to the arrival of leg 2, milliseconds. */
  readonly retrySentMs: Quantiles & { readonly max: number };
  /** Calls that have not completed, or not as they must. */
  readonly wrong: readonly string[];
}

/** Requests at once: as many as an API on a small machine answers without keeping anyone waiting. */
const atOnce = 20;
const patienceMs = 180_000;

const usage = `npm run test:recovery -- [options]
  --calls N        parked calls; default 200
  --json FILE      writes the report to a file as well`;
const values = readArgs(usage, { calls: { type: 'string', default: '200' }, json: { type: 'string' } });
forgetServices();
const rig = await Rig.start();
try {
  rig.keeper.open();
  const report = await recover(Number(values.calls));
  const text = JSON.stringify(report, null, 2);
  if (values.json !== undefined) await writeFile(values.json, `${text}\n`);
  console.log(text);
  process.exitCode = report.wrong.length === 0 ? 0 : 1;
} finally {
  await rig.stop();
}

async function recover(count: number): Promise<Report> {
  const policy = { roundDeadline: 'PT30M' };
  const calls = Array.from(
    { length: count },
    (_, n) => new Call(rig, methods[n % methods.length]!, { name: `parked-${n}`, policy }),
  );
  await inTurns(calls, atOnce, (call) => call.start());
  const asked = await inTurns(calls, atOnce, (call) => call.asked(1));
  await rig.worker.kill();
  await inTurns(calls, atOnce, (call, n) => call.answer(askedIn(asked[n]!)));

  const startedAt = Date.now();
  await rig.startWorker();
  const person = new Person(rig, calls);
  const seen = await inTurns(calls, calls.length, (call) => call.ended(patienceMs, 5_000));
  person.leave();
  const rows = await rig.serverRows();
  const sentMs = calls.map(({ key }) => arrivalOf(rows, key) - startedAt).filter(Number.isFinite);
  return {
    calls: count,
    retrySentMs: { ...quantilesOf(sentMs), max: rounded(Math.max(...sentMs)) },
    wrong: calls.flatMap((call, n) => wrongOf(call, seen[n], rows)),
  };
}

/** NaN when leg 2 never came. */
function arrivalOf(rows: readonly ServerRow[], key: string): number {
  return rows.find(({ call, leg, is }) => call === key && leg === 2 && is === 'arrival')?.at ?? Number.NaN;
}

function wrongOf(call: Call, seen: Seen | undefined, rows: readonly ServerRow[]): string[] {
  const own = rows.filter((row) => row.call === call.key);
  const facts = { ...call.facts, endings: ['completed'] as const, mayAskAgain: false, seen, rows: own };
  return wrongWith(facts).map((what) => `${call.key}: ${what}`);
}
