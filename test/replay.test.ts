/**
 * Determinism: what calls of every kind record, the workflow of this build replays; and what earlier builds have recorded (test/histories)
 * it replays as well, for such calls are still open.
 */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type ReplayHistoriesIterable } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import { bringTemporal } from '../tools/services.js';
import { startParley, until, type Parley } from './harness/parley.js';
import type { ScriptedServer } from './harness/scripted-server.js';
import { expectedFacts, factsOf } from './histories/facts.js';
import { codecKeysFile, dataConverter } from './histories/keys.js';
import { paths, slowPaths } from './histories/paths.js';
import { serversAt, type Place, type Taken } from './histories/place.js';
import { pathServer } from './histories/server.js';

const folder = resolve(import.meta.dirname, 'histories');
const isRecording = process.env['PARLEY_RECORD_HISTORIES'] !== undefined;
/** A path may wait for what Parley does by itself after a minute. */
const pathMs = 180_000;

interface Recording {
  readonly workflowId: string;
  readonly history: unknown;
}

const undo: (() => Promise<unknown>)[] = [];
let place: Place;
beforeAll(async () => {
  const dir = await mkdtemp(join(tmpdir(), 'parley-replay-'));
  undo.push(() => rm(dir, { recursive: true, force: true }));
  const server: ScriptedServer = await pathServer();
  undo.push(() => server.close());
  const tokenFile = join(dir, 'token');
  const servers = serversAt(server.url, tokenFile);
  const parleyWith = async (env: Record<string, string>): Promise<Parley> => {
    const codecKeys = { PARLEY_CODEC_KEYS_FILE: codecKeysFile, PARLEY_CONNECTION_LEASE: 'PT5S' };
    const parley = await startParley({ servers, env: { ...codecKeys, ...env } });
    undo.push(() => parley.stop());
    return parley;
  };
  const impatient = async (): Promise<Parley> => {
    const settings = ['limit.historyCount.suggestContinueAsNew=30'];
    const temporal = await bringTemporal({ log: () => {}, settings });
    undo.push(() => temporal.stop());
    return parleyWith({ TEMPORAL_ADDRESS: temporal.address });
  };
  const parley = await parleyWith({});
  const change: Place['change'] = async (id, to) => {
    const index = servers.findIndex((server) => server.id === id);
    servers[index] = { ...servers[index]!, ...to };
    await parley.register(servers);
    await Promise.all([parley.restartApi(), parley.restartWorker()]);
  };
  place = { parley, change, tokenFile, impatient };
});
afterAll(async () => {
  for (const step of undo.toReversed()) await step();
});

describe('the workflow', () => {
  it.each(Object.entries(isRecording ? { ...slowPaths, ...paths } : paths))(
    'replays its own history: %s',
    async (name, path) => {
      const taken = await path(place);
      const recordings = await recordingsOf(typeof taken === 'string' ? { id: taken, of: place.parley } : taken);
      for (const recording of recordings) await replay(recording);
      if (!isRecording) return;
      for (const [index, recording] of recordings.entries()) await keep(fileOf(name, index), recording);
    },
    pathMs,
  );

  it('replays every recorded history', async () => {
    const recorded = await allRecorded();
    expect([...recorded.keys()]).toEqual(
      expect.arrayContaining(Object.keys({ ...paths, ...slowPaths }).map((name) => fileOf(name))),
    );
    for (const recording of recorded.values()) await replay(recording);
  });

  it('has a recorded history of each of its endings, steps, messages, activities and patches', async () => {
    const facts = new Set<string>();
    for (const { history } of (await allRecorded()).values()) for (const fact of await factsOf(history)) facts.add(fact);
    expect((await expectedFacts()).filter((fact) => !facts.has(fact))).toEqual([]);
  });

  it('does not replay what it would not have done', async () => {
    const text = await readFile(join(folder, 'answered.json'), 'utf8');
    const altered = JSON.parse(text.replaceAll('"name":"sendLeg"', '"name":"sendTwice"')) as Recording;
    await expect(replay(altered)).rejects.toThrow(/nondeterminism|does not match/i);
  });
});

/** @param index of the run, when a call went on in another one */
function fileOf(name: string, index = 0): string {
  return `${name.replaceAll(/\W+/g, '-')}${index === 0 ? '' : `-${index + 1}`}.json`;
}

async function allRecorded(): Promise<ReadonlyMap<string, Recording>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const read = async (file: string) => [file, JSON.parse(await readFile(join(folder, file), 'utf8')) as Recording] as const;
  return new Map(await Promise.all(files.map(read)));
}

/** What an earlier build has recorded stays as it is. */
async function keep(file: string, recording: Recording): Promise<void> {
  await writeFile(join(folder, file), `${JSON.stringify(recording)}\n`, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** One of each run of the call, the first run first; without a run that was cut off by a reset, of which nothing goes on. */
async function recordingsOf({ id, of }: Taken): Promise<Recording[]> {
  const connection = await Connection.connect({ address: of.env['TEMPORAL_ADDRESS'] ?? '' });
  const { workflow } = new Client({ connection });
  const name = workflowId('t1', id as InvocationId);
  try {
    // The outcome is shown a moment before the workflow itself has ended.
    await until(async () => (await workflow.getHandle(name).describe()).status.name === 'COMPLETED');
    const recordings: Recording[] = [];
    let runId: string | undefined;
    do {
      const history = await workflow.getHandle(name, runId).fetchHistory();
      recordings.unshift({ workflowId: name, history: JSON.parse(historyToJSON(history)) });
      runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
    } while (runId !== undefined);
    return recordings;
  } finally {
    await connection.close();
  }
}

async function replay({ workflowId: id, history }: Recording): Promise<void> {
  const histories: ReplayHistoriesIterable = [{ workflowId: id, history: historyFromJSON(history) }];
  const results = Worker.runReplayHistories(
    {
      workflowBundle: { codePath: resolve(import.meta.dirname, '../dist/workflow-bundle.js') },
      dataConverter: await dataConverter(),
    },
    histories,
  );
  for await (const { error } of results) if (error !== undefined) throw error;
}
