/**
 * A Parley of one test file: an API and a worker as processes of their own on the run's Temporal and Redis, kept apart from every other
 * by task queue, key prefix and keys. Everything listens on free ports.
 */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { stringify } from 'yaml';
import { startExampleServer, type ExampleServer } from '../../examples/server/server.js';
import { DevSecrets } from '../../tools/dev-secrets.js';
import { devToken, type TokenWish } from '../../tools/dev-token.js';
import { startApi, startWorker, type Environment, type Running } from '../../tools/processes.js';
import { rest, type RestReply, type RestRequest } from '../../tools/rest.js';
import { settled } from '../../tools/settle.js';

export { until } from '../../tools/until.js';

/** As in parley.servers.yaml: durations are ISO 8601 text. */
export type WrittenPolicy = Readonly<Record<string, unknown>>;

export interface WrittenServer {
  readonly id: string;
  readonly title?: string;
  /** Of a server of transport streamable-http, which is the default. */
  readonly url?: string;
  readonly protocol?: '2026-07-28' | '2025-11-25';
  readonly credential?: { readonly env: string } | { readonly file: string };
  /** Of a server of transport stdio. */
  readonly transport?: 'stdio';
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | { readonly env: string }>>;
  readonly access?: Readonly<Partial<Record<'tenants' | 'subjects' | 'requesters', readonly string[]>>>;
  readonly policy?: WrittenPolicy;
}

export interface ParleyOptions {
  /** Of the example server, and of every server that has none. */
  readonly policy?: WrittenPolicy;
  /** Registered beside the example server, which is `example`. */
  readonly servers?: readonly WrittenServer[];
  readonly env?: Environment;
  /** False: the API alone. */
  readonly worker?: boolean;
}

export type ProcessKind = 'api' | 'worker';

/** Who asks: claims of a token, or null for none at all. */
export type Who = Partial<TokenWish> | null;

/** Timers in the example of a person are seconds and days; here they are as short as a busy machine allows. */
const quickPolicy: WrittenPolicy = {
  pollInitial: 'PT0.05S',
  pollMax: 'PT0.2S',
  connectBackoffInitial: 'PT0.05S',
  connectBackoffMax: 'PT0.2S',
  maxConnectAttempts: 3,
};

export async function startParley(options: ParleyOptions = {}): Promise<Parley> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const secrets = await DevSecrets.in(join(dir, 'secrets'));
  const example = await startExampleServer({ port: 0 });
  const name = `test-${randomUUID()}`;
  const env: Environment = {
    PARLEY_HTTP_PORT: '0',
    PARLEY_WORKER_HTTP_PORT: '0',
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    REDIS_URL: inject('redisUrl'),
    PARLEY_TASK_QUEUE: name,
    PARLEY_REDIS_PREFIX: name,
    PARLEY_SERVERS: join(dir, 'parley.servers.yaml'),
    ...secrets.environment(),
    ...options.env,
  };
  const parley = new Parley(dir, env, secrets, example);
  await parley.register(options.servers ?? [], options.policy);
  try {
    await settled([parley.start('api'), ...(options.worker === false ? [] : [parley.start('worker')])]);
  } catch (error) {
    await parley.stop();
    throw error;
  }
  return parley;
}

export class Parley {
  readonly #running = new Map<ProcessKind, Running>();
  readonly #all: Running[] = [];

  constructor(
    /** Folder of this Parley's files. */
    readonly dir: string,
    /** What both processes are told. */
    readonly env: Environment,
    readonly secrets: DevSecrets,
    readonly example: ExampleServer,
  ) {}

  /** One REST request, by default of `user-1` of tenant `t1` with the usual scopes. */
  async api(path: string, request: RestRequest & { readonly as?: Who } = {}): Promise<RestReply> {
    const { as: who = {}, ...rested } = request;
    return await rest(this.process('api').url, who === null ? undefined : await this.token(who), path, rested);
  }

  async token(wish: Partial<TokenWish> = {}): Promise<string> {
    return await devToken(this.secrets, { tenant: 't1', sub: 'user-1', ...wish });
  }

  get urls(): { readonly api: string; readonly worker: string; readonly example: string } {
    return { api: this.process('api').url, worker: this.process('worker').url, example: this.example.url };
  }

  /** @throws {Error} when it does not run */
  process(kind: ProcessKind): Running {
    const running = this.#running.get(kind);
    if (running === undefined) throw new Error(`the ${kind} does not run`);
    return running;
  }

  async start(kind: ProcessKind, env: Environment = {}): Promise<Running> {
    const starting = kind === 'api' ? startApi({ ...this.env, ...env }) : startWorker({ ...this.env, ...env });
    const running = await starting;
    this.#running.set(kind, running);
    this.#all.push(running);
    return running;
  }

  async restartApi(how: 'stop' | 'kill' = 'stop'): Promise<Running> {
    return await this.#restart('api', how);
  }

  async restartWorker(how: 'stop' | 'kill' = 'stop'): Promise<Running> {
    return await this.#restart('worker', how);
  }

  /** Every line that any process of this Parley has written, those that ended included. */
  logs(): readonly string[] {
    return this.#all.flatMap((running) => running.lines());
  }

  /** Writes the registry; processes read it when they start. */
  async register(servers: readonly WrittenServer[], policy: WrittenPolicy = {}): Promise<void> {
    const complete = [{ id: 'example', url: this.example.url }, ...servers].map((server: WrittenServer) => ({
      title: `Server ${server.id}`,
      transport: 'streamable-http' as const,
      ...server,
      policy: { ...quickPolicy, ...policy, ...server.policy },
    }));
    await writeFile(join(this.dir, 'parley.servers.yaml'), stringify({ servers: complete }));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((running) => running.stop()));
    await this.example.close();
    await rm(this.dir, { recursive: true, force: true });
  }

  async #restart(kind: ProcessKind, how: 'stop' | 'kill'): Promise<Running> {
    await this.process(kind)[how]();
    return await this.start(kind);
  }
}
