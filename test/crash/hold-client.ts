/**
 * Loaded into a process of Parley by `--import`: stops it at a point for as long as the matrix wants (keeper.ts). What runs is the real
 * program; only a method of a class is made to wait before or after it does its work. Without a keeper nothing waits.
 */

import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { isMainThread } from 'node:worker_threads';
import type { HoldPoint } from './moments.js';

/** Variable that holds the keeper's port. */
export const keeperVariable = 'CRASH_KEEPER_PORT';

const port = Number(process.env[keeperVariable] ?? 0);
const waiting = new Map<number, () => void>();
let asked = 0;
let keeper: Socket | undefined;

/** Resolves when the keeper says so, or is gone. */
export async function stopAt(point: HoldPoint, invocation: string, number: number): Promise<void> {
  if (port === 0 || !isMainThread) return;
  keeper ??= connected();
  const id = ++asked;
  const go = new Promise<void>((resolve) => waiting.set(id, resolve));
  keeper.write(`${JSON.stringify({ id, point, invocation, number })}\n`);
  await go;
}

function connected(): Socket {
  const socket = connect(port, '127.0.0.1');
  // A keeper must not keep a process alive that wants to end.
  socket.unref();
  const lines = createInterface({ input: socket });
  for (const each of [socket, lines]) each.on('error', () => {});
  socket.on('close', () => {
    for (const go of waiting.values()) go();
    waiting.clear();
  });
  lines.on('line', (line) => {
    waiting.get(Number(line))?.();
    waiting.delete(Number(line));
  });
  return socket;
}

type Method = (this: unknown, ...args: never[]) => Promise<unknown>;

/** Puts a wait before and after a method of every instance of a class. */
export function around<T extends object>(
  prototype: T,
  name: keyof T & string,
  wait: { before?: (...args: never[]) => Promise<void>; after?: (...args: never[]) => Promise<void> },
): void {
  const real = prototype[name] as Method;
  const waitingMethod: Method = async function (...args) {
    await wait.before?.(...args);
    const result = await real.apply(this, args);
    await wait.after?.(...args);
    return result;
  };
  Object.assign(prototype, { [name]: waitingMethod });
}
