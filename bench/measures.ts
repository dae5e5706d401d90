/**
 * The three measurements. Each runs in blocks that take turns, and the order of the turns alternates: whatever else the machine does, and
 * whatever warms up or fills up, meets both sides alike.
 */

import { cpuTimes, type CpuTimes } from './cpu.js';
import { plainTool } from './mcp-server.js';
import type { Rig } from './rig.js';
import type { Side } from './sides.js';
import { now, rounded } from './stats.js';
import { answerSteps, callSteps, type Steps, type Trace } from './steps.js';

/** How much is measured: `rounds` blocks of each side, each of `calls` calls. */
export interface Amount {
  readonly rounds: number;
  readonly calls: number;
}

export interface Latencies {
  /** Milliseconds. */
  readonly samples: Readonly<Record<string, readonly number[]>>;
  readonly steps: Readonly<Record<Side['name'], Steps>>;
}

export interface Throughput {
  readonly callsPerSecond: Readonly<Record<Side['name'], number>>;
  /** Milliseconds of each call: a call that was stuck shows here. */
  readonly samples: Readonly<Record<Side['name'], readonly number[]>>;
  /** Milliseconds of CPU per call, by process. */
  readonly cpuPerCall: Readonly<Record<Side['name'], Readonly<Record<string, number>>>>;
}

/** How many calls are under way at once when calls per second are counted. */
export const lanes = 20;

/** A call that asks nothing: through Parley, through the bare workflow, and by the MCP SDK alone. */
export async function measurePassThrough(rig: Rig, amount: Amount): Promise<Latencies> {
  const samples: Record<string, number[]> = { parley: [], temporal: [], sdk: [] };
  const traces: Record<Side['name'], Trace[]> = { parley: [], temporal: [] };
  const ofSide = (side: Side) => async (): Promise<void> => {
    const trace = await traced(rig, () => side.call());
    samples[side.name]?.push(trace.receivedAt - trace.sentAt);
    traces[side.name].push(trace);
  };
  const ofSdk = async (): Promise<void> => {
    const sentAt = now();
    await rig.sdk.callTool({ name: plainTool, arguments: { text: 'bench' } });
    samples['sdk']?.push(now() - sentAt);
  };
  await takingTurns([ofSide(rig.parley), ofSide(rig.bare), ofSdk], amount);
  return {
    samples,
    steps: {
      parley: await callSteps(rig.temporal, traces.parley),
      temporal: await callSteps(rig.temporal, traces.temporal),
    },
  };
}

/** From giving an answer to the arrival of the retry at the MCP server. */
export async function measureAnswers(rig: Rig, amount: Amount): Promise<Latencies> {
  const samples: Record<Side['name'], number[]> = { parley: [], temporal: [] };
  const traces: Record<Side['name'], Trace[]> = { parley: [], temporal: [] };
  const ofSide = (side: Side) => async (): Promise<void> => {
    const parked = await side.park();
    const arriving = rig.mcp.next();
    const sentAt = now();
    const [arrival] = await Promise.all([arriving, parked.answer()]);
    await parked.ended();
    samples[side.name].push(arrival.arrivedAt - sentAt);
    traces[side.name].push({ workflowId: parked.workflowId, sentAt, arrival, receivedAt: now() });
  };
  await takingTurns([ofSide(rig.parley), ofSide(rig.bare)], amount);
  return {
    samples,
    steps: {
      parley: await answerSteps(rig.temporal, traces.parley),
      temporal: await answerSteps(rig.temporal, traces.temporal),
    },
  };
}

/** Calls per second with {@link lanes} of them under way. */
export async function measureThroughput(rig: Rig, amount: Amount): Promise<Throughput> {
  const spent = { parley: new Spent(), temporal: new Spent() };
  const samples: Record<Side['name'], number[]> = { parley: [], temporal: [] };
  const ofSide = (side: Side) => async (): Promise<void> => {
    const before = cpuTimes(rig.pids);
    const startedAt = now();
    await inLanes(amount.calls, async () => {
      const sentAt = now();
      await side.call();
      samples[side.name].push(now() - sentAt);
    });
    spent[side.name].add(amount.calls, now() - startedAt, before, cpuTimes(rig.pids));
  };
  await takingTurns([ofSide(rig.parley), ofSide(rig.bare)], { rounds: amount.rounds, calls: 1 });
  return {
    samples,
    callsPerSecond: { parley: spent.parley.callsPerSecond, temporal: spent.temporal.callsPerSecond },
    cpuPerCall: { parley: spent.parley.cpuPerCall, temporal: spent.temporal.cpuPerCall },
  };
}

/**
 * A warm pass-through is one POST to the MCP server: nothing is asked again that was asked a moment ago.
 *
 * @returns POSTs per call
 * @throws {Error} when there are more
 */
export async function countPosts(rig: Rig, calls: number): Promise<number> {
  await rig.parley.call();
  const before = rig.mcp.postCount;
  for (let n = 0; n < calls; n++) await rig.parley.call();
  const posts = rig.mcp.postCount - before;
  if (posts !== calls) throw new Error(`${calls} warm calls made ${posts} POSTs to the MCP server`);
  return posts / calls;
}

async function traced(rig: Rig, call: () => Promise<string>): Promise<Trace> {
  const sentAt = now();
  const workflowId = await call();
  const receivedAt = now();
  const arrival = rig.mcp.last;
  if (arrival === undefined) throw new Error('a call ended and the MCP server saw none');
  return { workflowId, sentAt, arrival, receivedAt };
}

async function takingTurns(sides: readonly (() => Promise<void>)[], { rounds, calls }: Amount): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      for (let n = 0; n < calls; n++) await side();
    }
  }
}

async function inLanes(calls: number, call: () => Promise<unknown>): Promise<void> {
  let left = calls;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** What the blocks of one side took, added up. */
class Spent {
  private calls = 0;
  private ms = 0;
  private readonly cpu = new Map<string, number>();

  add(calls: number, ms: number, before: CpuTimes, after: CpuTimes): void {
    this.calls += calls;
    this.ms += ms;
    for (const [name, at] of after) this.cpu.set(name, (this.cpu.get(name) ?? 0) + at - (before.get(name) ?? at));
  }

  get callsPerSecond(): number {
    return rounded((this.calls / this.ms) * 1_000);
  }

  get cpuPerCall(): Record<string, number> {
    return Object.fromEntries([...this.cpu].map(([name, ms]) => [name, rounded(ms / this.calls)]));
  }
}
