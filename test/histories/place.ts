/** Where paths are taken, and what most of them do. */

import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { workflowId, type InvocationId } from '../../domain/ids.js';
import { Keys } from '../../src/store/keys.js';
import { connectRedis, type Redis } from '../../src/store/redis.js';
import { built } from '../../tools/root.js';
import { asked, outcome, start, type CallWish } from '../harness/conversation.js';
import { silentLog } from '../harness/fresh-store.js';
import type { Parley, WrittenServer } from '../harness/parley.js';

export interface Place {
  readonly parley: Parley;
  /** Registers a server of {@link serversAt} otherwise, for a new API and a new worker. */
  readonly change: (server: string, to: Partial<WrittenServer>) => Promise<void>;
  /** Of the server `guarded`. */
  readonly tokenFile: string;
  /** A Parley whose Temporal suggests a new run after a few events; it is started when it is first wanted. */
  readonly impatient: () => Promise<Parley>;
}

/** A call that is over, and the Parley that it was of, if not {@link Place.parley}. */
export interface Taken {
  readonly id: string;
  readonly of: Parley;
}

/** Takes one way, and returns the id of its call, which is over. */
export type Path = (place: Place) => Promise<string | Taken>;
export type Paths = Readonly<Record<string, Path>>;

export const yes = { go: { ok: true } };

export function serversAt(url: string, tokenFile: string): WrittenServer[] {
  const notes = { transport: 'stdio', command: process.execPath, args: [built('examples/stdio-server/main.js')] } as const;
  const slow = { pollInitial: 'PT1H', pollMax: 'PT1H' };
  return [
    { id: 'paths', url, policy: { legDeadline: 'PT2S', maxRounds: 2, maxCancels: 1, maxPolls: 3 } },
    { id: 'unhurried', url, policy: { legDeadline: 'PT6S' } },
    { id: 'reasking', url, policy: { onStateExpired: 'reask' } },
    { id: 'patient', url, policy: slow },
    { id: 'guarded', url, credential: { file: tokenFile } },
    { id: 'versioned', url, policy: { version: '1' } },
    { id: 'shared', url },
    { id: 'absent', url: 'http://127.0.0.1:9/mcp' },
    { id: 'notes', ...notes },
    { id: 'slow_notes', ...notes, policy: slow },
  ];
}

export const calling = (parley: Parley, name: string, more: CallWish = {}): Promise<string> =>
  start(parley, { server: 'paths', tool: name, ...more });

export async function over(parley: Parley, id: string): Promise<string> {
  await outcome(parley, id, 60_000);
  return id;
}

/** The id of a call that asks, once it is parked. */
export async function parked(parley: Parley, more: CallWish = {}): Promise<string> {
  const id = await calling(parley, 'asks', more);
  await asked(parley, id);
  return id;
}

export async function cancel(parley: Parley, id: string): Promise<void> {
  const path = `/v1/invocations/${id}/cancel`;
  await expectOf(parley.api(path, { method: 'POST', idempotencyKey: randomUUID() }), path);
}

export async function resume(parley: Parley, id: string): Promise<void> {
  const path = `/v1/invocations/${id}/resume`;
  await expectOf(parley.api(path, { method: 'POST', idempotencyKey: randomUUID() }), path);
}

const operator = { sub: 'operator', scopes: ['servers:operate', 'calls:operate'] };

export async function withdraw(parley: Parley, consent: string): Promise<void> {
  const path = `/v1/consents/${consent}/withdraw`;
  await expectOf(parley.api(path, { method: 'POST', idempotencyKey: randomUUID(), as: operator }), path);
}

/** @param server that no leg goes to until {@link release} */
export async function hold(parley: Parley, server: string): Promise<void> {
  const path = `/v1/holds/servers/${server}`;
  await expectOf(parley.api(path, { method: 'PUT', as: operator }), path);
}

export async function release(parley: Parley, server: string): Promise<void> {
  const path = `/v1/holds/servers/${server}`;
  await expectOf(parley.api(path, { method: 'DELETE', as: operator }), path);
}

/** A path that did not go where it says would record something else under its name. */
async function expectOf(reply: Promise<{ readonly status: number; readonly text: string }>, what: string): Promise<void> {
  const { status, text } = await reply;
  if (status >= 300) throw new Error(`${what}: ${status} ${text}`);
}

/** Acts on the workflow of a call at its Temporal, without codec. */
export async function atTemporal<T>({ env }: Parley, id: string, act: (handle: WorkflowHandle) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: env['TEMPORAL_ADDRESS'] ?? '' });
  try {
    return await act(new Client({ connection }).workflow.getHandle(workflowId('t1', id as InvocationId)));
  } finally {
    await connection.close();
  }
}

/** Kinds of the events of a call's latest run, such as `EVENT_TYPE_TIMER_STARTED`. */
export async function eventsOf(parley: Parley, id: string): Promise<readonly string[]> {
  const history = await atTemporal(parley, id, (handle) => handle.fetchHistory());
  const { events } = JSON.parse(historyToJSON(history)) as { events: readonly { eventType: string }[] };
  return events.map(({ eventType }) => eventType);
}

/** Acts on the store of a Parley behind its back. */
export async function onStore<T>({ env }: Parley, act: (redis: Redis, keys: Keys) => Promise<T>): Promise<T> {
  const redis = await connectRedis(env['REDIS_URL'] ?? '', silentLog);
  try {
    return await act(redis, new Keys(env['PARLEY_REDIS_PREFIX'] ?? ''));
  } finally {
    redis.destroy();
  }
}
