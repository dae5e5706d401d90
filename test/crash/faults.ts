/** The faults of the matrix that befall processes and stores. Each begins with every call at its moment, lets them go, and ends healed. */

import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../tools/until.js';
import type { FaultName } from './allowed.js';
import { Call } from './call.js';
import { doubleClick, terminate, terminateAndKill } from './faults-of-calls.js';
import { changeOptions, pause, pauseAndKill, resetActivities, resetTo } from './faults-of-temporal.js';
import { legDeadlineMs, type Rig } from './rig.js';
import { withRedis } from './with-redis.js';

export interface Scene {
  readonly rig: Rig;
  readonly calls: readonly Call[];
  /** Lets every call go on. */
  release(): Promise<void>;
}

export interface Fault {
  /** First cell of its row. */
  readonly title: string;
  /** One of the few that CI runs. */
  readonly isReduced?: true;
  /** Before any call is started. */
  prepare?(rig: Rig): Promise<void>;
  /** See `ServiceOptions.under`. */
  readonly redisUnder?: readonly string[];
  /** Narrows the policy of its calls. */
  readonly policy?: object;
  /** How long after its end a call may take to end; default: {@link patienceMs}. */
  readonly patienceMs?: number;
  befall(scene: Scene): Promise<void>;
}

/** A leg's deadline, a heartbeat's, two rounds of a person who looks every second, and as much again for a busy machine. */
export const patienceMs = 90_000;

/** The reconciler lets a minute pass after a leg's deadline, or after the last that was heard of a call. */
const unattendedMs = 150_000;

const outageMs = 2_000;
const longOutageMs = 20_000;
const hourMs = 3_600_000;

/** Files of at most 2 or 4 MB, by the shell's block; a write beyond is refused (EFBIG) instead of ending the program. */
const limited = ['/bin/sh', '-c', 'trap "" XFSZ; ulimit -f 4096; exec "$@"', 'sh'];

export const faults: Readonly<Record<FaultName, Fault>> = {
  worker_killed: {
    title: 'SIGKILL of the worker',
    isReduced: true,
    befall: async (scene) => {
      await scene.rig.worker.kill();
      await scene.release();
      await scene.rig.startWorker();
    },
  },
  api_killed: {
    title: 'SIGKILL of the API',
    befall: async (scene) => {
      await scene.rig.api().kill();
      await scene.release();
      await scene.rig.startApi();
    },
  },
  both_killed: {
    title: 'SIGKILL of both',
    isReduced: true,
    befall: async (scene) => {
      await Promise.all([scene.rig.worker.kill(), scene.rig.api().kill()]);
      await scene.release();
      await Promise.all([scene.rig.startWorker(), scene.rig.startApi()]);
    },
  },
  worker_drained: {
    title: 'SIGTERM of the worker, with drain',
    befall: async ({ rig, release }) => {
      const { worker } = rig;
      worker.signal('SIGTERM');
      await delay(500);
      await release();
      const { code } = await worker.exited;
      if (code !== 0) throw new Error(`the worker ended with ${code}`);
      await rig.startWorker();
    },
  },
  worker_stopped: {
    title: 'SIGSTOP of the worker, longer than its heartbeat',
    befall: async ({ rig, release }) => {
      rig.worker.pause();
      await release();
      await delay(legDeadlineMs + 4_000);
      rig.worker.resume();
    },
  },
  temporal_restarted: { title: 'Temporal restarted', isReduced: true, befall: (scene) => restarted(scene, 'temporal') },
  temporal_away: { title: 'Temporal unreachable for 20 s', befall: (scene) => away(scene, 'temporal') },
  redis_restarted: { title: 'Redis restarted', isReduced: true, befall: (scene) => restarted(scene, 'redis') },
  redis_away: { title: 'Redis unreachable for 20 s', befall: (scene) => away(scene, 'redis') },
  redis_full: {
    title: "Redis' disk full",
    redisUnder: limited,
    befall: async (scene) => {
      await fillDisk(scene.rig);
      await restarted(scene, 'redis');
    },
  },
  redis_wiped: {
    title: 'Redis wiped',
    // Nobody can answer what nobody is shown any more.
    policy: { roundDeadline: 'PT40S' },
    befall: async ({ rig, release }) => {
      await withRedis(rig.redisUrl, (redis) => redis.sendCommand(['FLUSHALL']));
      await release();
    },
  },
  mcp_killed: {
    title: 'MCP server killed',
    isReduced: true,
    befall: async ({ rig, release }) => {
      await rig.mcp.kill();
      rig.keeper.open();
      await delay(outageMs);
      await rig.startMcp();
      await release();
    },
  },
  mcp_reset: {
    title: "MCP server's connections reset",
    befall: async ({ rig, release }) => {
      await rig.tellMcp('reset');
      await release();
    },
  },
  reset_to_first: { title: '`workflow reset` to the first task', isReduced: true, befall: (scene) => resetTo(scene, 'first') },
  reset_to_last: { title: '`workflow reset` to the last task', befall: (scene) => resetTo(scene, 'last') },
  reset_to_each: { title: '`workflow reset` to each later task, latest first', befall: (scene) => resetTo(scene, 'each') },
  activity_paused: { title: '`activity pause`, then `unpause`', befall: pause },
  activity_paused_killed: { title: '`activity pause`, SIGKILL of the worker, `unpause`', befall: pauseAndKill },
  activity_reset: { title: '`activity reset`', befall: resetActivities },
  activity_options: { title: '`activity update-options`: 10 attempts; SIGKILL of the worker', befall: changeOptions },
  terminated: { title: 'workflow terminated', patienceMs: unattendedMs, befall: terminate },
  terminated_killed: {
    title: 'workflow terminated, SIGKILL of the worker',
    patienceMs: unattendedMs,
    befall: terminateAndKill,
  },
  double_click: {
    title: 'double click from two API replicas',
    prepare: (rig) => rig.startApi(1),
    befall: doubleClick,
  },
  clock_ahead: { title: "API's clock an hour ahead", befall: (scene) => clockShifted(scene, hourMs) },
  clock_behind: { title: "API's clock an hour behind", befall: (scene) => clockShifted(scene, -hourMs) },
};

async function restarted({ rig, release }: Scene, name: 'temporal' | 'redis'): Promise<void> {
  await rig.kill(name);
  await release();
  await delay(outageMs);
  await rig.startService(name);
}

async function away({ rig, release }: Scene, name: 'temporal' | 'redis'): Promise<void> {
  await rig.gate(name).shut();
  await release();
  await delay(longOutageMs);
  await rig.gate(name).open();
}

async function clockShifted({ rig, release }: Scene, shiftMs: number): Promise<void> {
  await rig.api().kill();
  await release();
  await rig.startApi(0, { shiftMs });
  const call = new Call(rig, 'tools/call', { name: 'clock' });
  await call.start();
  const startedAt = Date.parse((await call.seen()).startedAt);
  if (Math.abs(startedAt - Date.now() - shiftMs) > hourMs / 2) throw new Error('the clock of the API was not shifted');
}

/** As the store says that it was refused a write to its file. */
const refusedWrite = /AOF write error|Error writing to the AOF file|Short write while writing to the AOF file/;
/** Until what it says is in its log. */
const sayMs = 10_000;

/** Writes until the store is refused a write to its file; with `appendfsync always` it then ends, for it could not keep its word. */
async function fillDisk(rig: Rig): Promise<void> {
  const filler = 'x'.repeat(1024 * 1024);
  const isFull = await withRedis(rig.redisUrl, async (redis) => {
    try {
      for (let n = 0; n < 64; n++) await redis.set(`filler-${n}`, filler);
      return false;
    } catch {
      return true;
    }
  });
  if (!isFull) throw new Error('64 MB were written, and no write was refused');
  await until(async () => refusedWrite.test(await rig.logOf('redis')), sayMs, "the store's word that a write was refused");
}
