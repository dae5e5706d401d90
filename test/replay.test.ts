/**
 * Determinism: what calls of every kind record, the workflow of this build replays; and what earlier builds have recorded (test/histories)
 * it replays as well, for such calls are still open.
 */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type ReplayHistoriesIterable } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflowId, type InvocationId } from '../domain/ids.js';
import { KeyRingCodec } from '../src/crypto/codec.js';
import { dataConverterFor } from '../src/crypto/data-converter.js';
import { KeyRing } from '../src/crypto/key-ring.js';
import { startParley, until, type Parley } from './harness/parley.js';
import type { ScriptedServer } from './harness/scripted-server.js';
import { temporalClient } from './harness/temporal.js';
import { paths, pathServer, serversAt } from './histories/paths.js';

const folder = resolve(import.meta.dirname, 'histories');
/** Of nothing but these recordings. */
const testKeys = join(folder, 'codec-keys.txt');
const isRecording = process.env['PARLEY_RECORD_HISTORIES'] !== undefined;

interface Recording {
  readonly workflowId: string;
  readonly history: unknown;
}

let parley: Parley;
let server: ScriptedServer;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-replay-'));
  server = await pathServer();
  const servers = serversAt(server.url, join(dir, 'token'));
  parley = await startParley({ servers, env: { PARLEY_CODEC_KEYS_FILE: testKeys } });
});
afterAll(async () => {
  await parley?.stop();
  await server?.close();
  await rm(dir, { recursive: true, force: true });
});

describe('the workflow', () => {
  it.each(Object.entries(paths))('replays its own history: %s', async (name, path) => {
    const id = workflowId('t1', (await path({ parley, tokenFile: join(dir, 'token') })) as InvocationId);
    const temporal = await temporalClient();
    const handle = temporal.workflow.getHandle(id);
    // The outcome is shown a moment before the workflow itself has ended.
    await until(async () => (await handle.describe()).status.name === 'COMPLETED');
    const history = await handle.fetchHistory();
    await temporal.connection.close();
    const recording: Recording = { workflowId: id, history: JSON.parse(historyToJSON(history)) };
    await replay(recording);
    if (isRecording) await writeFile(join(folder, `${name.replaceAll(/\W+/g, '-')}.json`), `${JSON.stringify(recording)}\n`);
  });

  it('replays every recorded history', async () => {
    const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
    const ofPaths = Object.keys(paths).map((name) => `${name.replaceAll(/\W+/g, '-')}.json`);
    expect(files).toEqual(expect.arrayContaining(ofPaths));
    for (const file of files) await replay(JSON.parse(await readFile(join(folder, file), 'utf8')) as Recording);
  });

  it('does not replay what it would not have done', async () => {
    const text = await readFile(join(folder, 'answered.json'), 'utf8');
    const altered = JSON.parse(text.replaceAll('"name":"sendLeg"', '"name":"sendTwice"')) as Recording;
    await expect(replay(altered)).rejects.toThrow(/nondeterminism|does not match/i);
  });
});

async function replay({ workflowId: id, history }: Recording): Promise<void> {
  const codec = new KeyRingCodec(KeyRing.parse((await readFile(testKeys, 'utf8')).trim()));
  const histories: ReplayHistoriesIterable = [{ workflowId: id, history: historyFromJSON(history) }];
  const results = Worker.runReplayHistories(
    {
      workflowBundle: { codePath: resolve(import.meta.dirname, '../dist/workflow-bundle.js') },
      dataConverter: dataConverterFor(codec),
    },
    histories,
  );
  for await (const { error } of results) if (error !== undefined) throw error;
}
