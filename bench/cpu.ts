/** CPU time of other processes, as Linux accounts it: unlike a duration it hardly depends on what else the machine is doing. */

import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ, 100 on every Linux that Node runs on. */
const msPerTick = 10;

export type CpuTimes = ReadonlyMap<string, number>;

/**
 * @param pids by the name it is shown under
 * @returns milliseconds of CPU since each process began, all threads together; processes that cannot be read are left out
 */
export function cpuTimes(pids: ReadonlyMap<string, number>): CpuTimes {
  const times = new Map<string, number>();
  for (const [name, pid] of pids) {
    const stat = statOf(pid);
    if (stat !== undefined) times.set(name, stat.cpuMs);
  }
  return times;
}

/** Children of this process, by the beginning of their command's name. */
export function childPid(commands: readonly string[]): number | undefined {
  for (const entry of readProcesses()) {
    const stat = statOf(Number(entry));
    if (stat?.parent === process.pid && commands.some((command) => stat.command.startsWith(command))) return Number(entry);
  }
  return undefined;
}

function readProcesses(): string[] {
  try {
    return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  } catch {
    return []; // not Linux: no figures
  }
}

function statOf(pid: number): { command: string; parent: number; cpuMs: number } | undefined {
  try {
    // `pid (command) state ppid …`: a command may hold blanks and brackets, so the last bracket counts.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = text.lastIndexOf(')');
    const fields = text.slice(end + 2).split(' ');
    const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number);
    return {
      command: text.slice(text.indexOf('(') + 1, end),
      parent: parent ?? 0,
      cpuMs: ((user ?? 0) + (system ?? 0)) * msPerTick,
    };
  } catch {
    return undefined; // ended, or not Linux
  }
}
