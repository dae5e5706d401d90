/**
 * The process of a server that is a program, and every process that it starts: they live in one group, which is ended as a whole, and which
 * does not outlive the worker, however that ends. What the program writes to its standard error is dropped: it may quote what it was
 * told.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { ServerProgram } from './server-program.js';

/** Between the end of its input and SIGTERM, and between SIGTERM and SIGKILL (MCP, stdio: shutdown). */
const graceMs = 1_500;
/** For what a program wrote just before it ended. */
const lastOutputMs = 500;

/**
 * The guard reads fd 3, whose other end only the worker holds and never writes to: its end is the worker's. It then ends the group as the worker
 * would have done, the program that took the shell's place included. It reads by itself, for the child's PATH may lead to no other program.
 */
const guard = `(trap '' TERM INT HUP; read -r end <&3; sleep 1; kill -s TERM -- -$$; sleep 2; kill -s KILL -- -$$) >/dev/null 2>&1 </dev/null &
exec "$@" 3<&-`;

export interface ProcessListener {
  output(chunk: Buffer): void;
  /** Once, after the last output. */
  ended(exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null }): void;
}

export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #listener: ProcessListener;
  #exited = false;
  #isOver = false;
  #timers: NodeJS.Timeout[] = [];

  /** Never throws: a program that cannot be started has ended at once. */
  constructor({ command, args, env, cwd }: ServerProgram, listener: ProcessListener) {
    this.#listener = listener;
    this.#child = spawn('/bin/sh', ['-c', guard, 'sh', command, ...args], {
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
      detached: true,
      env,
      ...(cwd !== undefined && { cwd }),
    });
    for (const stream of [this.#input, this.#output, this.#guard]) stream?.on('error', () => {});
    // Who does not listen any more cannot be spoken to any more.
    this.#input?.on('error', () => this.kill());
    this.#output?.on('data', (chunk: Buffer) => listener.output(chunk));
    this.#child.once('error', () => this.#over());
    this.#child.once('exit', () => {
      this.#exited = true;
      // The guard is of the group, so the group's number is still its own.
      this.#signal('SIGKILL');
      this.#guard?.destroy();
      this.#input?.destroy();
      this.#timers.push(setTimeout(() => this.#over(), lastOutputMs));
    });
    this.#child.once('close', () => this.#over());
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get takesInput(): boolean {
    return !this.#exited && this.#input?.writable === true;
  }

  /** What was written and not yet taken by the program. */
  get unreadBytes(): number {
    return this.#input?.writableLength ?? 0;
  }

  write(text: string): void {
    this.#input?.write(text);
  }

  /** The end of its input, SIGTERM and SIGKILL, each after a grace. */
  stop(): void {
    if (this.#exited || this.#timers.length > 0) return;
    this.#input?.end();
    this.#timers.push(setTimeout(() => this.#signal('SIGTERM'), graceMs));
    this.#timers.push(setTimeout(() => this.#signal('SIGKILL'), 2 * graceMs));
  }

  kill(): void {
    if (!this.#exited) this.#signal('SIGKILL');
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#exited = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const stream of [this.#input, this.#output, this.#guard]) stream?.destroy();
    this.#listener.ended({ code: this.#child.exitCode, signal: this.#child.signalCode });
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group is gone.
    }
  }

  get #input(): Writable | null {
    return this.#child.stdin;
  }

  get #output(): Readable | null {
    return this.#child.stdout;
  }

  get #guard(): Socket | undefined {
    return this.#child.stdio[3] as Socket | undefined;
  }
}
