/**
 * Everything that Parley needs on one machine, started in order and stopped in the reverse order: Temporal with its web interface,
 * Redis or Valkey, the example MCP server, the API and the worker. With a kept state folder a call that was parked before a stop can
 * be answered after the next start.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startCodecRelay } from './codec-relay.js';
import { DevSecrets } from './dev-secrets.js';
import type { PortName, Ports } from './ports.js';
import { startApi, startExample, startWorker, type Environment, type Running } from './processes.js';
import type { Log } from './programs.js';
import { findOrBringRedis, findOrBringTemporal, type Service } from './services.js';
import { settled } from './settle.js';

export interface StackOptions {
  readonly log: Log;
  readonly stateDir: string;
  readonly ports: Ports;
  /** Use this Temporal or Redis instead of looking for one. */
  readonly temporal?: string | undefined;
  readonly redis?: string | undefined;
  /** A registry of one's own; default: one that holds the example server. */
  readonly servers?: string | undefined;
  /** False where the state folder is removed at the end, and its logs with it. */
  readonly isKept?: boolean;
  /** Task queue and key prefix of a run that shares nothing with others on the same Temporal and Redis. */
  readonly space?: string;
}

export interface Stack {
  readonly apiUrl: string;
  readonly exampleUrl: string;
  readonly uiUrl?: string;
  readonly secrets: DevSecrets;
  readonly children: readonly Running[];
  stop(): Promise<void>;
}

/** Id under which the example server is registered. */
export const exampleServerId = 'example';

export async function startStack(options: StackOptions): Promise<Stack> {
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

async function startAll(options: StackOptions, undo: (() => Promise<unknown>)[]): Promise<Omit<Stack, 'stop'>> {
  const { log, ports, stateDir } = options;
  const logDir = join(stateDir, 'logs');
  await mkdir(logDir, { recursive: true });
  const secrets = await DevSecrets.in(join(stateDir, 'secrets'));
  const codecPort = await ports.of('codec');
  const { temporal, redis } = await startServices(options, codecPort, logDir, undo);

  const keep = async (name: PortName, starting: Promise<Running>): Promise<Running> => {
    const running = await starting;
    undo.push(() => running.stop());
    log(`${name}: ${running.url} (pid ${running.pid}${options.isKept === false ? '' : `, log ${running.logFile}`})`);
    return running;
  };
  const logFile = (name: string): { logFile: string } => ({ logFile: join(logDir, `${name}.log`) });

  const examplePort = await ports.of('example');
  const exampleEnv = { EXAMPLE_STATE_KEY_FILE: join(stateDir, 'secrets', 'example-state.key') };
  const args = ['--port', String(examplePort)];
  const example = await keep('example', startExample(exampleEnv, { args, ...logFile('example') }));

  const env: Environment = {
    PARLEY_ENV: 'development',
    PARLEY_HTTP_PORT: String(await ports.of('api')),
    PARLEY_WORKER_HTTP_PORT: String(await ports.of('worker')),
    PARLEY_SERVERS: options.servers ?? (await writeRegistry(stateDir, example.url)),
    TEMPORAL_ADDRESS: temporal.address,
    REDIS_URL: redis.address,
    ...(options.space === undefined ? {} : { PARLEY_TASK_QUEUE: options.space, PARLEY_REDIS_PREFIX: options.space }),
    ...secrets.environment(),
  };
  const [worker, api] = await settled([
    keep('worker', startWorker(env, logFile('worker'))),
    keep('api', startApi(env, logFile('api'))),
  ]);
  if (temporal.uiUrl !== undefined) {
    const relay = await startCodecRelay(codecPort, temporal.uiUrl, api.url, secrets);
    undo.push(() => relay.stop());
  }
  const uiUrl = temporal.uiUrl === undefined ? {} : { uiUrl: temporal.uiUrl };
  return { apiUrl: api.url, exampleUrl: example.url, ...uiUrl, secrets, children: [api, worker, example] };
}

async function startServices(
  { log, ports, stateDir, ...given }: StackOptions,
  codecPort: number,
  logDir: string,
  undo: (() => Promise<unknown>)[],
): Promise<{ temporal: Service; redis: Service }> {
  const bring = async (starting: Promise<Service>): Promise<Service> => {
    const service = await starting;
    undo.push(() => service.stop());
    return service;
  };
  const [temporal, redis] = await settled([
    bring(
      findOrBringTemporal({
        log,
        logDir,
        dataDir: join(stateDir, 'temporal'),
        port: await ports.of('temporal'),
        uiPort: await ports.of('ui'),
        uiCodecEndpoint: `http://127.0.0.1:${codecPort}/codec`,
        ...(given.temporal === undefined ? {} : { address: given.temporal }),
      }),
    ),
    bring(
      findOrBringRedis({
        log,
        logDir,
        dataDir: join(stateDir, 'redis'),
        port: await ports.of('redis'),
        ...(given.redis === undefined ? {} : { address: given.redis }),
      }),
    ),
  ]);
  return { temporal, redis };
}

async function writeRegistry(stateDir: string, url: string): Promise<string> {
  const path = join(stateDir, 'parley.servers.yaml');
  const example = { id: exampleServerId, title: 'Example server', transport: 'streamable-http', url };
  await writeFile(path, stringify({ servers: [example] }));
  return path;
}
