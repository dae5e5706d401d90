/**
 * `npm run test:crash [-- --reduced] [--only FAULT]… [--at-once N] [--write-docs]`: every fault at every moment of a call, by every method
 * (docs/reliability.md). Exit code 1 when a cell does not hold.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readArgs } from '../../tools/command-line.js';
import { root } from '../../tools/root.js';
import { faultNames, type FaultName } from './allowed.js';
import { cellsOf, type Cell } from './event.js';
import { faults } from './faults.js';
import { inTurns } from './in-turns.js';
import { forgetServices } from './own-services.js';
import { countOf, reliabilityPage, tableOf } from './page.js';

/** What CI has time for; said, and not held against a machine that is busy. */
const reducedSeconds = 240;

const usage = `npm run test:crash -- [options]
  --reduced        the faults that continuous integration has time for
  --only FAULT     this fault alone; may be repeated: ${faultNames.join(', ')}
  --at-once N      faults side by side; default 2
  --write-docs     writes docs/reliability.md; needs every fault`;
const values = readArgs(usage, {
  reduced: { type: 'boolean', default: false },
  only: { type: 'string', multiple: true },
  'at-once': { type: 'string', default: '2' },
  'write-docs': { type: 'boolean', default: false },
});

forgetServices();
if (values['write-docs'] && (values.reduced || values.only !== undefined)) throw new Error('--write-docs: needs every fault');
const startedAt = performance.now();
const cells = await all(chosen(), Number(values['at-once']));
console.log(`\n${tableOf(cells)}\n`);
if (values['write-docs']) await writeFile(join(root, 'docs', 'reliability.md'), reliabilityPage(cells));
const took = `${Math.round(secondsSince(startedAt))} s`;
console.log(values.reduced ? `${took} of ${reducedSeconds} s` : took);
console.log(countOf(cells));
process.exit(cells.some(({ wrong }) => wrong.length > 0) ? 1 : 0);

/** @throws {Error} for a name that is no fault's */
function chosen(): FaultName[] {
  const unknown = values.only?.find((name) => !faultNames.some((fault) => fault === name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: expected one of ${faultNames.join(', ')}`);
  if (values.only !== undefined) return faultNames.filter((name) => values.only?.includes(name));
  return faultNames.filter((name) => !values.reduced || faults[name].isReduced);
}

/** Most of a fault's time is waiting: a few of them side by side keep a machine busy. */
async function all(names: readonly FaultName[], atOnce: number): Promise<Cell[]> {
  const cells = await inTurns(names, atOnce, async (name) => {
    const since = performance.now();
    const found = await cellsOf(name);
    tell(name, found, secondsSince(since));
    return found;
  });
  return cells.flat();
}

function tell(name: FaultName, cells: readonly Cell[], seconds: number): void {
  console.log(`crash | ${name}: ${countOf(cells)}, ${Math.round(seconds)} s`);
  for (const what of new Set(cells.flatMap(({ wrong }) => wrong))) {
    const where = cells.filter(({ wrong }) => wrong.includes(what)).map(({ moment, method }) => `${moment} ${method}`);
    console.log(`crash |   ${what}: ${where.length === cells.length ? 'every cell' : where.join(', ')}`);
  }
}

function secondsSince(instant: number): number {
  return (performance.now() - instant) / 1_000;
}
