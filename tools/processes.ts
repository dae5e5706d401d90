/** Parley's own processes as children: for the launcher, the tests and the benchmark. They run from `dist/`, as in production. */

import { Child } from './child.js';
import { built, root } from './root.js';

/** A process that has said that it is ready, and where it listens. */
export type Running = Child & { readonly url: string };

export type Environment = Readonly<Record<string, string>>;

export interface StartOptions {
  /** Also append its output to this file. */
  readonly logFile?: string;
  /** Arguments after the script's path. */
  readonly args?: readonly string[];
}

/** A cold start on two busy cores takes a few seconds; a minute means that something is broken. */
const readyTimeoutMs = 60_000;

/** @param env what it is told beyond this process's own environment */
export async function startApi(env: Environment, options: StartOptions = {}): Promise<Running> {
  return await startNode('api', 'src/main.api.js', env, options);
}

export async function startWorker(env: Environment, options: StartOptions = {}): Promise<Running> {
  return await startNode('worker', 'src/main.worker.js', env, options);
}

export async function startExample(env: Environment, options: StartOptions = {}): Promise<Running> {
  return await startNode('example', 'examples/server/main.js', env, options);
}

async function startNode(name: string, script: string, env: Environment, options: StartOptions): Promise<Running> {
  const child = new Child({
    name,
    command: process.execPath,
    args: ['--enable-source-maps', built(script), ...(options.args ?? [])],
    env: { ...process.env, ...env },
    cwd: root,
    ...(options.logFile === undefined ? {} : { logFile: options.logFile }),
  });
  try {
    return Object.assign(child, { url: await child.firstLine(readyUrl, readyTimeoutMs) });
  } catch (error) {
    await child.kill();
    throw error;
  }
}

/** The URL in the JSON line with which a process says that it is ready. */
function readyUrl(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { event, url } = JSON.parse(line) as { event?: unknown; url?: unknown };
    return event === 'ready' && typeof url === 'string' ? url : undefined;
  } catch {
    return undefined;
  }
}
