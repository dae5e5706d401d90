/** Everything that takes part in a run: Temporal and Redis, the MCP server, Parley's two processes and the floor's worker, as in production. */

import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client as McpClient } from '@modelcontextprotocol/client';
import { Client, Connection } from '@temporalio/client';
import { Agent, setGlobalDispatcher } from 'undici';
import { stringify } from 'yaml';
import { Child } from '../tools/child.js';
import { DevSecrets } from '../tools/dev-secrets.js';
import { devToken } from '../tools/dev-token.js';
import { startApi, startWorker, type Environment } from '../tools/processes.js';
import { stateDir } from '../tools/root.js';
import { findOrBringRedis, findOrBringTemporal } from '../tools/services.js';
import { connectClient } from './bare/activities.js';
import { childPid } from './cpu.js';
import { BenchServer } from './mcp-server.js';
import { BareSide, benchServerId, benchTenant, ParleySide } from './sides.js';

export interface RigOptions {
  readonly log: (line: string) => void;
  /** A folder for V8's CPU profiles of the API and the worker, which they write when they stop. */
  readonly profileDir?: string | undefined;
}

export interface Rig {
  readonly parley: ParleySide;
  readonly bare: BareSide;
  /** Connected to the MCP server directly. */
  readonly sdk: McpClient;
  readonly mcp: BenchServer;
  readonly temporal: Client;
  readonly redisUrl: string;
  /** By the name in the table; services that somebody else runs are not in it. */
  readonly pids: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

export async function startRig(options: RigOptions): Promise<Rig> {
  // A server ends a connection that was idle for 5 s; on a busy machine the default margin of 1 s is not enough to notice in time.
  setGlobalDispatcher(new Agent({ keepAliveTimeoutThreshold: 3_000 }));
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    return { ...(await startAll(options, undo)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startAll({ log, profileDir }: RigOptions, undo: (() => Promise<unknown>)[]): Promise<Omit<Rig, 'stop'>> {
  const keep = async <T>(starting: Promise<T>, end: (it: T) => Promise<unknown>): Promise<T> => {
    const it = await starting;
    undo.push(() => end(it));
    return it;
  };
  const dir = await keep(mkdtemp(join(tmpdir(), 'parley-bench-')), (path) => rm(path, { recursive: true, force: true }));
  const temporal = await keep(findOrBringTemporal({ log }), (service) => service.stop());
  const redis = await keep(findOrBringRedis({ log }), (service) => service.stop());
  const mcp = await keep(BenchServer.start(), (server) => server.close());
  const secrets = await DevSecrets.in(join(dir, 'secrets'));

  const name = `bench-${randomUUID()}`;
  const env: Environment = {
    PARLEY_HTTP_PORT: '0',
    PARLEY_WORKER_HTTP_PORT: '0',
    PARLEY_TASK_QUEUE: name,
    PARLEY_REDIS_PREFIX: name,
    PARLEY_SERVERS: await writeRegistry(dir, mcp.url),
    TEMPORAL_ADDRESS: temporal.address,
    REDIS_URL: redis.address,
    ...secrets.environment(),
    ...(profileDir === undefined ? {} : await profiling(profileDir)),
  };
  const logDir = join(stateDir, 'bench');
  await mkdir(logDir, { recursive: true });
  const worker = await keep(startWorker(env, { logFile: join(logDir, 'worker.log') }), (process) => process.stop());
  const api = await keep(startApi(env, { logFile: join(logDir, 'api.log') }), (process) => process.stop());
  const bareQueue = `${name}-bare`;
  const bareWorker = await keep(startBareWorker(temporal.address, bareQueue, mcp.url), (process) => process.stop());
  log(`Parley: API ${api.url} (pid ${api.pid}), worker (pid ${worker.pid}); bare worker (pid ${bareWorker.pid})`);

  const connection = await keep(Connection.connect({ address: temporal.address }), (it) => it.close());
  const client = new Client({ connection });
  const token = await devToken(secrets, { tenant: benchTenant, sub: 'user-1', ttlSeconds: 6 * 3600 });
  const pids = { api: api.pid, worker: worker.pid, 'bare worker': bareWorker.pid, ...serviceAndOwnPids() };
  return {
    parley: new ParleySide(api.url, token, client),
    bare: new BareSide(client, bareQueue),
    sdk: await keep(connectClient(mcp.url), (it) => it.close()),
    mcp,
    temporal: client,
    redisUrl: redis.address,
    pids: new Map(Object.entries(pids).filter((entry): entry is [string, number] => entry[1] !== undefined)),
  };
}

async function startBareWorker(address: string, queue: string, mcpUrl: string): Promise<Child> {
  const child = new Child({
    name: 'bare worker',
    command: process.execPath,
    args: ['--enable-source-maps', fileURLToPath(import.meta.resolve('./bare/worker.js')), address, queue, mcpUrl],
  });
  await child.firstLine((line) => line.includes('"event":"ready"') || undefined, 60_000);
  return child;
}

async function writeRegistry(dir: string, url: string): Promise<string> {
  const path = join(dir, 'parley.servers.yaml');
  const server = { id: benchServerId, title: 'Benchmark', transport: 'streamable-http', url };
  await writeFile(path, stringify({ servers: [server] }));
  return path;
}

function serviceAndOwnPids(): Record<string, number | undefined> {
  return {
    Temporal: childPid(['temporal']),
    Valkey: childPid(['valkey', 'redis']),
    'caller + MCP server': process.pid,
  };
}

async function profiling(dir: string): Promise<Environment> {
  const path = resolve(dir);
  await mkdir(path, { recursive: true });
  return { NODE_OPTIONS: `--import=${import.meta.resolve('./profile.js')}`, BENCH_PROFILE_DIR: path };
}
