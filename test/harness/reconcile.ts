/** `npm run reconcile -- --json` as an operator runs it, against the services of one Parley. */

import { execFile } from 'node:child_process';
import type { Report } from '../../src/reconcile/report.js';
import { built } from '../../tools/root.js';
import type { Environment } from '../../tools/processes.js';
import type { Parley } from './parley.js';

export interface HandRun {
  readonly code: number;
  readonly report: Report;
}

export async function reconcile(parley: Parley, env: Environment = {}): Promise<HandRun> {
  const { code, out, err } = await runByHand(parley, ['--json'], env);
  if (out === '') throw new Error(`the reconciler printed nothing, and exited with ${code}: ${err}`);
  return { code, report: JSON.parse(out) as Report };
}

export async function runByHand(
  parley: Parley,
  args: readonly string[],
  env: Environment = {},
): Promise<{ code: number; out: string; err: string }> {
  return new Promise((ended) => {
    const options = { env: { ...process.env, ...parley.env, ...env }, timeout: 60_000 };
    const child = execFile(process.execPath, [built('src/main.reconcile.js'), ...args], options, (_, out, err) => {
      ended({ code: child.exitCode ?? -1, out, err });
    });
  });
}
