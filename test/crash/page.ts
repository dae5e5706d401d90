/** The matrix as a table: on the terminal and in docs/reliability.md. The same cells give the same page. */

import { allowed, faultNames, type FaultName } from './allowed.js';
import type { Cell } from './event.js';
import { faults } from './faults.js';
import { methods, momentNames, moments } from './moments.js';

export function reliabilityPage(cells: readonly Cell[]): string {
  return [
    '<!-- Written by `npm run test:crash -- --write-docs`. Do not edit. -->',
    '# Reliability',
    [
      'What becomes of a call when something breaks, and of which there is proof. The test brings one call of each method to each moment of its life and holds it',
      'there, on a real Temporal, a real Valkey, a real MCP server and the processes of Parley as they run in production; then the fault falls, once, on all of them.',
    ].join('\n'),
    '```\nnpm run test:crash                        # all of it\nnpm run test:crash -- --reduced           # as in CI\nnpm run test:crash -- --only worker_killed\n```',
    [
      `A cell of the table is a fault at a moment, and counts the methods (${methods.map((name) => `\`${name}\``).join(', ')}) by which it held. A cell holds when all of this is so:`,
    ].join('\n'),
    [
      '- The server, by its own count, was sent each leg at most once and made each effect at most once.',
      '- The outcome is one that the design allows for that cell (`test/crash/allowed.ts`): where nothing else is said, `completed`.',
      '- A leg that the server has seen is never reported as not sent.',
      '- An answer of which the person was told that it is accepted is the one that the server got.',
      '- Afterwards nothing needs a hand: every call ends, and new calls of every method complete.',
    ].join('\n'),
    '## Results',
    tableOf(cells),
    countOf(cells),
    '## Moments',
    table(
      ['', 'moment', 'what is so'],
      momentNames.map((name, index) => [String(index + 1), moments[name].head, moments[name].meaning]),
    ),
    '## What is not in it',
    [
      '- An activity is paused, reset or changed only while `sendLeg` is under way: the other moments have no such activity, and no cell (–).',
      '- A call is reset to a later task only where it has more than one: while leg 1 is under way, its first is its last (–).',
      '- An MCP server killed before, during and after its effect is one row, and the moments on the wire tell them apart.',
      '- What was terminated, or lost its question with a wiped store, is closed by the reconciler, here every five seconds (`PARLEY_RECONCILE_INTERVAL`).',
    ].join('\n'),
    '## Recovery and soak',
    [
      '- `npm run test:recovery` parks 200 calls, kills the worker, lets everybody answer while it is away, and starts it again: none may be lost, and the',
      '  [figures](../test/crash/figures/recovery.json) say how long after the start of the worker each retry was sent.',
      '- `npm run test:soak` makes mixed calls at a steady rate for five minutes, while something is killed every ten seconds: no effect twice, no call lost, memory',
      '  within bounds ([figures](../test/crash/figures/soak.json)).',
    ].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}

/** Faults by moments, with how many methods held of how many. */
export function tableOf(cells: readonly Cell[]): string {
  const rows = faultNames
    .filter((fault) => cells.some((cell) => cell.fault === fault))
    .map((fault) => [faults[fault].title, ...countsOf(cells, fault)]);
  return table(['fault', ...momentNames.map((_, index) => String(index + 1))], rows);
}

export function countOf(cells: readonly Cell[]): string {
  const failed = cells.filter(({ wrong }) => wrong.length > 0).length;
  return `${cells.length} cells, ${cells.length - failed} passed, ${failed} failed`;
}

function countsOf(cells: readonly Cell[], fault: FaultName): string[] {
  return momentNames.map((moment) => {
    if (allowed(fault, moment) === undefined) return '–';
    const of = cells.filter((cell) => cell.fault === fault && cell.moment === moment);
    return `${of.filter(({ wrong }) => wrong.length === 0).length}/${of.length}`;
  });
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? cell).length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), `|${'--|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
