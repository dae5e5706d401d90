/**
 * Everything that takes part in one fault: a Temporal and a Valkey of its own that keep their data, a relay in front of each, the MCP
 * server, and Parley's real processes, which stop where the keeper says.
 */

import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { stringify } from 'yaml';
import { Child } from '../../tools/child.js';
import { DevSecrets } from '../../tools/dev-secrets.js';
import { devToken } from '../../tools/dev-token.js';
import { freePort } from '../../tools/ports.js';
import { startApi, startWorker, type Environment, type Running } from '../../tools/processes.js';
import { built, root } from '../../tools/root.js';
import { findOrBringRedis, findOrBringTemporal, type Service } from '../../tools/services.js';
import { Keys } from '../../src/store/keys.js';
import { settled } from '../../tools/settle.js';
import { TcpGate } from '../harness/tcp-gate.js';
import { keeperVariable } from './hold-client.js';
import { Keeper } from './keeper.js';

export const tenant = 'crash';
export const serverId = 'crash';

/** Shorter than Parley's defaults, so that a lost leg is given up within the run; longer than a busy machine needs to come to the moments. */
export const legDeadlineMs = 18_000;

const policy = {
  legDeadline: `PT${legDeadlineMs / 1_000}S`,
  connectBackoffInitial: 'PT0.2S',
  connectBackoffMax: 'PT1S',
  maxConnectAttempts: 100,
};

/** What happened at the MCP server, in order, by its own file. */
export interface ServerRow {
  readonly is: 'arrival' | 'effect';
  readonly call: string;
  readonly leg: number;
  /** JSON-RPC's. */
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

type ServiceName = 'temporal' | 'redis';

export class Rig {
  readonly #services = new Map<ServiceName, Service>();
  readonly #gates = new Map<ServiceName, TcpGate>();
  readonly #apis: Running[] = [];
  #worker: Running | undefined;
  #mcp: Child | undefined;
  #token: Promise<string> | undefined;

  private constructor(
    private readonly dir: string,
    private readonly secrets: DevSecrets,
    private readonly ports: Readonly<Record<ServiceName | 'mcp', number>>,
    readonly keeper: Keeper,
    private readonly space: string,
  ) {}

  /** @param redisUnder see `ServiceOptions.under` */
  static async start(redisUnder: readonly string[] = []): Promise<Rig> {
    const dir = await mkdtemp(join(tmpdir(), 'parley-crash-'));
    await mkdir(join(dir, 'logs'));
    const secrets = await DevSecrets.in(join(dir, 'secrets'));
    const ports = { temporal: await freePort(), redis: await freePort(), mcp: await freePort() };
    const rig = new Rig(dir, secrets, ports, await Keeper.start(), `crash-${randomUUID()}`);
    try {
      await rig.#bring(redisUnder);
    } catch (error) {
      await rig.stop();
      throw error;
    }
    return rig;
  }

  /** The first API, unless another is asked for. */
  api(index = 0): Running {
    return present(this.#apis[index], 'the API');
  }

  get worker(): Running {
    return present(this.#worker, 'the worker');
  }

  get mcp(): Child {
    return present(this.#mcp, 'the MCP server');
  }

  gate(name: ServiceName): TcpGate {
    return present(this.#gates.get(name), name);
  }

  async kill(name: ServiceName): Promise<void> {
    await present(this.#services.get(name), name).kill();
  }

  /** @param under see `ServiceOptions.under` */
  async startService(name: ServiceName, under: readonly string[] = []): Promise<void> {
    const bring = name === 'temporal' ? findOrBringTemporal : findOrBringRedis;
    const options = {
      log: () => {},
      dataDir: join(this.dir, name),
      port: this.ports[name],
      logDir: join(this.dir, 'logs'),
      under,
    };
    this.#services.set(name, await bring(options));
  }

  /** @param shiftMs of its clock */
  async startApi(index = 0, { shiftMs = 0 } = {}): Promise<void> {
    const env = this.#env('holds-api.js', ...(shiftMs === 0 ? [] : ['shifted-clock.js']));
    const options = { logFile: this.#logFile('api') };
    this.#apis[index] = await startApi({ ...env, CRASH_CLOCK_SHIFT_MS: String(shiftMs) }, options);
  }

  async startWorker(): Promise<void> {
    this.#worker = await startWorker(this.#env('holds-worker.js'), { logFile: this.#logFile('worker') });
  }

  /** @param flags `--held`: calls stop where they ask to */
  async startMcp(...flags: string[]): Promise<void> {
    const args = ['--enable-source-maps', built('test/crash/effect-server.js'), String(this.ports.mcp), this.#effects, ...flags];
    this.#mcp = new Child({ name: 'mcp', command: process.execPath, args, cwd: root, logFile: this.#logFile('mcp') });
    await this.#mcp.firstLine((line) => line.includes('"ready"') || undefined, 30_000);
  }

  /** POST to the MCP server: `release` lets every held leg go, `reset` also ends every connection with a TCP reset. */
  async tellMcp(what: 'release' | 'reset'): Promise<void> {
    await fetch(`http://127.0.0.1:${this.ports.mcp}/${what}`, { method: 'POST' });
  }

  async serverRows(): Promise<ServerRow[]> {
    const text = await readFile(this.#effects, 'utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as ServerRow);
  }

  /** Straight to Temporal, past the relay. */
  async withTemporal<T>(act: (client: Client) => Promise<T>): Promise<T> {
    const connection = await Connection.connect({ address: `127.0.0.1:${this.ports.temporal}` });
    try {
      return await act(new Client({ connection }));
    } finally {
      await connection.close();
    }
  }

  /** What a service has said, over all its lives. */
  async logOf(name: ServiceName): Promise<string> {
    return readFile(this.#logFile(name), 'utf8');
  }

  get keys(): Keys {
    return new Keys(this.space);
  }

  get redisUrl(): string {
    return `redis://127.0.0.1:${this.ports.redis}`;
  }

  /** Of the one person and agent; good also for a clock that is an hour off. */
  async token(): Promise<string> {
    this.#token ??= devToken(this.secrets, { tenant, sub: 'user-1', ttlSeconds: 12 * 3600 });
    return await this.#token;
  }

  async stop(): Promise<void> {
    this.keeper.open();
    await Promise.all([this.#worker?.kill(), this.#mcp?.kill(), ...this.#apis.map((api) => api.kill())]);
    await Promise.all([...this.#gates.values()].map((gate) => gate.shut()));
    await Promise.all([...this.#services.values()].map((service) => service.kill()));
    await this.keeper.stop();
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  get #effects(): string {
    return join(this.dir, 'effects.jsonl');
  }

  #logFile(name: string): string {
    return join(this.dir, 'logs', `${name}.log`);
  }

  async #bring(redisUnder: readonly string[]): Promise<void> {
    await writeFile(this.#effects, '');
    await writeFile(join(this.dir, 'parley.servers.yaml'), stringify({ servers: [this.#entry()] }));
    await settled([this.#bringService('temporal'), this.#bringService('redis', redisUnder), this.startMcp('--held')]);
    await settled([this.startApi(), this.startWorker()]);
  }

  async #bringService(name: ServiceName, redisUnder: readonly string[] = []): Promise<void> {
    await this.startService(name, name === 'redis' ? redisUnder : []);
    const protocol = name === 'redis' ? 'redis' : 'tcp';
    this.#gates.set(name, await new TcpGate(new URL(`${protocol}://127.0.0.1:${this.ports[name]}`)).open());
  }

  #entry(): object {
    const url = `http://127.0.0.1:${this.ports.mcp}/mcp`;
    return { id: serverId, title: 'Crash', transport: 'streamable-http', url, policy };
  }

  #env(...preloads: string[]): Environment {
    return {
      PARLEY_HTTP_PORT: '0',
      PARLEY_WORKER_HTTP_PORT: '0',
      PARLEY_TASK_QUEUE: this.space,
      PARLEY_REDIS_PREFIX: this.space,
      PARLEY_SERVERS: join(this.dir, 'parley.servers.yaml'),
      // As often as a run of minutes needs it; the grace must outlast what a caller repeats after an outage.
      PARLEY_RECONCILE_INTERVAL: 'PT5S',
      PARLEY_RECONCILE_GRACE: 'PT20S',
      TEMPORAL_ADDRESS: this.gate('temporal').url.replace('tcp://', ''),
      REDIS_URL: this.gate('redis').url,
      ...this.secrets.environment(),
      NODE_OPTIONS: preloads.map((file) => `--import=${import.meta.resolve(`./${file}`)}`).join(' '),
      [keeperVariable]: String(this.keeper.port),
    };
  }
}

function present<T>(it: T | undefined, name: string): T {
  if (it === undefined) throw new Error(`${name} does not run`);
  return it;
}
