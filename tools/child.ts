/**
 * Child processes that never outlive their parent, however it dies. Each child runs in a process group of its own, so that Ctrl-C in a
 * terminal reaches the launcher alone and the launcher stops its children in order; and each is watched over a pipe that the
 * operating system closes when the parent is gone, even by SIGKILL.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface ChildSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment; default: the parent's. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Also append every line of output to this file. */
  readonly logFile?: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Lines kept in memory for `lines()`: enough for any test, bounded for a launcher that runs for days. */
const keptLines = 50_000;

/**
 * Waits on fd 3, which only the parent can close; then ends the program that took this shell's place. CONT last: a paused program
 * takes its TERM only when it runs again.
 */
const guard = 'exec 3<&0; (cat <&3; kill $$; kill -CONT $$) >/dev/null 2>&1 & exec "$@" 3<&- </dev/null';

export class Child {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string | undefined;
  readonly exited: Promise<Exit>;
  #lines: string[] = [];
  #listeners = new Set<(line: string) => void>();
  #process: ChildProcess;
  #exit: Exit | undefined;

  constructor(spec: ChildSpec) {
    this.name = spec.name;
    this.logFile = spec.logFile;
    this.#process = spawn('/bin/sh', ['-c', guard, 'sh', spec.command, ...spec.args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      env: spec.env ?? process.env,
      ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
    });
    if (this.#process.pid === undefined) throw new Error(`${spec.name}: could not be started`);
    this.pid = this.#process.pid;
    this.#process.stdin?.on('error', () => {}); // the program is gone already; nothing is ever written
    const file = spec.logFile === undefined ? undefined : createWriteStream(spec.logFile, { flags: 'a', mode: 0o600 });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      this.#read(stream as Readable, (line) => file?.write(`${line}\n`));
    this.exited = new Promise((resolve) => {
      this.#process.once('close', (code, signal) => {
        this.#exit = { code, signal };
        this.#process.stdin?.destroy();
        file?.end();
        resolve(this.#exit);
      });
      // `close` waits for the output's end, and the guard for the pipe's.
      this.#process.once('exit', () => this.#process.stdin?.destroy());
    });
  }

  /** Everything it said on stdout and stderr, oldest first. */
  lines(): readonly string[] {
    return this.#lines;
  }

  get isRunning(): boolean {
    return this.#exit === undefined;
  }

  /**
   * The first line, past or future, in which `find` sees something.
   *
   * @throws {Error} with the last lines of output when the program ends first or `timeoutMs` passes
   */
  async firstLine<T>(find: (line: string) => T | undefined, timeoutMs: number): Promise<T> {
    for (const line of this.#lines) {
      const found = find(line);
      if (found !== undefined) return found;
    }
    return await new Promise<T>((resolve, reject) => {
      const finish = (act: () => void): void => {
        clearTimeout(timer);
        this.#listeners.delete(listen);
        act();
      };
      const listen = (line: string): void => {
        const found = find(line);
        if (found !== undefined) finish(() => resolve(found));
      };
      const fail = (why: string): void => finish(() => reject(new Error(`${this.name}: ${why}\n${this.tail()}`)));
      const timer = setTimeout(() => fail(`not ready after ${timeoutMs} ms`), timeoutMs);
      this.#listeners.add(listen);
      void this.exited.then(({ code, signal }) => fail(`ended before it was ready (${signal ?? `exit code ${code}`})`));
    });
  }

  /** The last lines of output, for an error message. */
  tail(count = 20): string {
    return this.#lines
      .slice(-count)
      .map((line) => `  ${this.name} | ${line}`)
      .join('\n');
  }

  /** SIGTERM, then SIGKILL after `graceMs`; resolves when the process is gone. Its exit code tells whether the stop was clean. */
  async stop(graceMs = 20_000): Promise<Exit> {
    this.signal('SIGTERM');
    this.signal('SIGCONT');
    const timer = setTimeout(() => this.signal('SIGKILL'), graceMs);
    try {
      return await this.exited;
    } finally {
      clearTimeout(timer);
    }
  }

  /** SIGKILL: the crash of the crash tests. */
  async kill(): Promise<Exit> {
    this.signal('SIGKILL');
    return await this.exited;
  }

  pause(): void {
    this.signal('SIGSTOP');
  }

  resume(): void {
    this.signal('SIGCONT');
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#exit === undefined) this.#process.kill(signal);
  }

  #read(stream: Readable, write: (line: string) => void): void {
    createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
      this.#lines.push(line);
      if (this.#lines.length > keptLines) this.#lines = this.#lines.slice(-keptLines / 2);
      write(line);
      for (const listener of this.#listeners) listener(line);
    });
  }
}
