/**
 * Where the time of a call goes: the instants in Temporal's own history, joined with what the benchmark's process saw. Event types and times
 * are in clear also where payloads are encrypted.
 */

import type { Client } from '@temporalio/client';
import type { Arrival } from './mcp-server.js';
import { quantile, rounded } from './stats.js';

/** What the benchmark's process saw of one call; instants as of `now()`. */
export interface Trace {
  readonly workflowId: string;
  readonly sentAt: number;
  readonly arrival: Arrival;
  /** When the caller had the result; unused after an answer. */
  readonly receivedAt: number;
}

/** Median milliseconds of each step, in order. */
export type Steps = Readonly<Record<string, number>>;

interface Mark {
  /** What ends here. */
  readonly step: string;
  readonly at: number;
}

/** Numbers of temporal.api.enums.v1.EventType. */
const event = {
  workflowStarted: 1,
  workflowTaskStarted: 6,
  activityScheduled: 10,
  activityStarted: 11,
  activityCompleted: 12,
  signaled: 26,
} as const;

type Event = { readonly type: number; readonly at: number };

/** Steps of a call that asks nothing. */
export async function callSteps(temporal: Client, traces: readonly Trace[]): Promise<Steps> {
  return medians(
    await marksOf(temporal, traces, (events, { arrival, receivedAt }) => {
      const find = finder(events);
      return [
        { step: 'caller → workflow started', at: find(event.workflowStarted) },
        { step: 'workflow task waits for a worker', at: find(event.workflowTaskStarted) },
        { step: 'workflow task → activity scheduled', at: find(event.activityScheduled) },
        { step: 'activity waits for a worker', at: find(event.activityStarted) },
        { step: 'activity → request arrives', at: arrival.arrivedAt },
        { step: 'the MCP server', at: arrival.repliedAt },
        { step: 'reply → activity completed', at: find(event.activityCompleted) },
        { step: 'second workflow task waits for a worker', at: find(event.workflowTaskStarted) },
        { step: 'second workflow task → caller has the result', at: receivedAt },
      ];
    }),
  );
}

/** Steps from an answer to the retry's arrival. */
export async function answerSteps(temporal: Client, traces: readonly Trace[]): Promise<Steps> {
  return medians(
    await marksOf(temporal, traces, (events, { arrival }) => {
      const find = finder(events.slice(events.findLastIndex(({ type }) => type === event.signaled)));
      return [
        { step: 'answer → signal stored', at: find(event.signaled) },
        { step: 'workflow task waits for a worker', at: find(event.workflowTaskStarted) },
        { step: 'workflow task → activity scheduled', at: find(event.activityScheduled) },
        { step: 'activity waits for a worker', at: find(event.activityStarted) },
        { step: 'activity → request arrives', at: arrival.arrivedAt },
      ];
    }),
  );
}

/** Each search goes on where the one before it has found. */
function finder(events: readonly Event[]): (type: number) => number {
  let from = 0;
  return (type) => {
    const index = events.findIndex((each, at) => at >= from && each.type === type);
    const found = events[index];
    if (found === undefined) throw new Error(`a history without the expected event ${type}`);
    from = index + 1;
    return found.at;
  };
}

async function marksOf(
  temporal: Client,
  traces: readonly Trace[],
  marks: (events: readonly Event[], trace: Trace) => Mark[],
): Promise<Mark[][]> {
  const all: Mark[][] = [];
  for (const trace of traces) {
    const events = await eventsOf(temporal, trace.workflowId);
    all.push([{ step: '', at: trace.sentAt }, ...marks(events, trace)]);
  }
  return all;
}

async function eventsOf(temporal: Client, workflowId: string): Promise<Event[]> {
  const { namespace } = temporal.options;
  const { history } = await temporal.workflowService.getWorkflowExecutionHistory({ namespace, execution: { workflowId } });
  return (history?.events ?? []).map(({ eventType, eventTime }) => ({
    type: Number(eventType),
    at: Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6,
  }));
}

function medians(calls: readonly (readonly Mark[])[]): Steps {
  const samples = new Map<string, number[]>();
  for (const marks of calls) {
    for (const [index, { step, at }] of marks.slice(1).entries()) {
      const before = marks[index]?.at ?? at;
      samples.set(step, [...(samples.get(step) ?? []), at - before]);
    }
  }
  return Object.fromEntries([...samples].map(([step, sample]) => [step, rounded(quantile(sample, 0.5))]));
}
