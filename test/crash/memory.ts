/** Resident memory of processes that come and go, sampled. */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const everyMs = 2_000;

/** Mebibytes. */
export interface Peak {
  readonly peak: number;
  /** Of the first and of the last third of the time: memory that only grows shows here. */
  readonly firstThird: number;
  readonly lastThird: number;
}

export class MemoryWatch {
  private readonly samples = new Map<string, number[]>();
  private readonly timer: NodeJS.Timeout;

  /** @param pids the processes of the moment, by kind */
  constructor(private readonly pids: () => Readonly<Record<string, number>>) {
    this.timer = setInterval(() => void this.look(), everyMs);
  }

  stop(): Record<string, Peak> {
    clearInterval(this.timer);
    return Object.fromEntries([...this.samples].map(([name, sample]) => [name, peakOf(sample)]));
  }

  private async look(): Promise<void> {
    for (const [name, pid] of Object.entries(this.pids())) {
      // One that has just been killed has no memory.
      const mebibytes = Math.round((await residentKibibytes(pid).catch(() => 0)) / 1024);
      if (mebibytes > 0) this.samples.set(name, [...(this.samples.get(name) ?? []), mebibytes]);
    }
  }
}

/** A small Linux has no `ps`; others have no `/proc`. */
async function residentKibibytes(pid: number): Promise<number> {
  if (process.platform !== 'linux') return Number((await run('ps', ['-o', 'rss=', '-p', String(pid)])).stdout);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

function peakOf(sample: readonly number[]): Peak {
  const third = Math.ceil(sample.length / 3);
  return {
    peak: Math.max(...sample),
    firstThird: Math.max(...sample.slice(0, third)),
    lastThird: Math.max(...sample.slice(-third)),
  };
}
