/** What `npm start` and `npm run demo` share: options, the state folder and its lock, and an orderly end. */

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KeptPorts, portNames, type PortName, type Ports } from './ports.js';
import { stateDir } from './root.js';
import { startStack, type Stack } from './stack.js';

export interface LauncherOptions {
  /** A scripted person answers; nothing is kept. */
  readonly auto: boolean;
  readonly temporal: string | undefined;
  readonly redis: string | undefined;
  readonly servers: string | undefined;
  readonly ports: Partial<Record<PortName, number>>;
}

export const launcherUsage = [
  '  --temporal HOST:PORT   use this Temporal (else: TEMPORAL_ADDRESS, or one is started)',
  '  --redis URL            use this Redis or Valkey (else: REDIS_URL, or one is started)',
  '  --servers FILE         a server registry of your own (else: the example server alone)',
  `  --NAME-port N          for ${portNames.join(', ')}; default: as in the last run`,
].join('\n');

/** @throws {Error} that says what is wrong with the command line */
export function readOptions(args: readonly string[]): LauncherOptions {
  const portOptions = Object.fromEntries(portNames.map((name) => [`${name}-port`, { type: 'string' as const }]));
  const { values } = parseArgs({
    args: [...args],
    options: {
      auto: { type: 'boolean', default: false },
      temporal: { type: 'string' },
      redis: { type: 'string' },
      servers: { type: 'string' },
      ...portOptions,
    },
  });
  const given: Record<string, unknown> = values;
  const ports: Partial<Record<PortName, number>> = {};
  for (const name of portNames) {
    const text = given[`${name}-port`];
    if (text === undefined) continue;
    const port = Number(text);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`--${name}-port: expected a port, 1 to 65535`);
    ports[name] = port;
  }
  return { auto: values.auto, temporal: values.temporal, redis: values.redis, servers: values.servers, ports };
}

export function say(line: string): void {
  console.log(`parley | ${line}`);
}

/** Everything, with its state kept in `.parley/`. */
export async function launch(options: LauncherOptions): Promise<Stack> {
  const unlock = await lock(stateDir);
  try {
    const ports: Ports = await KeptPorts.in(join(stateDir, 'ports.json'), options.ports, say);
    const stack = await startStack({ ...options, log: say, stateDir, ports });
    return {
      ...stack,
      stop: async () => {
        await stack.stop();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** Two signals within this time are one press of Ctrl-C; nobody presses it twice so fast to mean it. */
const samePressMs = 1_000;

/**
 * Resolves on Ctrl-C or SIGTERM with exit code 0, and with 1 when a process ended by itself or `meanwhile` failed. A second signal ends
 * at once: the children's guards end them.
 */
export async function runUntilStopped(stack: Stack, meanwhile: Promise<void> = Promise.resolve()): Promise<number> {
  const stopped = new Promise<number>((resolve) => {
    let stoppingSince: number | undefined;
    const onSignal = (): void => {
      // One Ctrl-C comes twice under npm: from the terminal, and passed on by npm.
      if (stoppingSince !== undefined && Date.now() - stoppingSince < samePressMs) return;
      if (stoppingSince !== undefined) process.exit(130);
      stoppingSince = Date.now();
      say('stopping; what is parked stays parked');
      resolve(0);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    for (const child of stack.children) {
      void child.exited.then(() => {
        if (stoppingSince === undefined) say(`${child.name} ended by itself; stopping. Its last words:\n${child.tail()}`);
        resolve(1);
      });
    }
  });
  await Promise.race([meanwhile, stopped]);
  return await stopped;
}

/** Two launchers on one folder would start two servers on one database file. */
async function lock(dir: string): Promise<() => Promise<void>> {
  await mkdir(dir, { recursive: true });
  const file = join(dir, 'launcher.pid');
  const pid = Number(await readFile(file, 'utf8').catch(() => '0'));
  if (pid > 0 && isAlive(pid))
    throw new Error(`another launcher (pid ${pid}) uses ${dir}; stop it, or set PARLEY_STATE to another folder`);
  await writeFile(file, String(process.pid));
  return async () => await rm(file, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
