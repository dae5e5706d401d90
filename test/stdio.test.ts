/**
 * Servers that are programs: a call lives on the one process that asked. What happens to that process, or to the worker that holds it,
 * happens to the call, and nothing is ever replayed to another.
 */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { built, root } from '../tools/root.js';
import { accept, answer, asked, auditOf, outcome, post, start } from './harness/conversation.js';
import { until, type Parley, type WrittenServer } from './harness/parley.js';
import { undoAfterEach } from './harness/undo.js';

const undo = undoAfterEach();

const leaseMs = 3_000;
/** On two busy cores, beyond the lease: a workflow task, the steps that close the call, and the looking. */
const slackMs = 30_000;
const lost = { outcome: 'binding_lost', reason: 'connection_lost' };
const yes = { publish: { confirm: true } };
const publish = { server: 'notes', tool: 'publish', arguments: { title: 'news' } };

describe('a call of a stdio server', () => {
  it('completes without a question, and its tools are shown by the API', async () => {
    const { parley, effects } = await withNotes();
    const reply = await post(parley, { server: 'notes', tool: 'note', arguments: { title: 'one' }, waitSeconds: 20 });
    expect(reply.body, reply.text).toMatchObject({ outcome: 'completed', leg: 1 });
    expect(reply.body.result.content[0].text).toBe('one: note done');
    expect(await effects()).toMatchObject([{ tool: 'note', title: 'one' }]);

    const listed = await parley.api('/v1/servers');
    expect(listed.body.items[1]).toMatchObject({ id: 'notes', transport: 'stdio', origin: 'stdio:node' });
    const tools = await parley.api('/v1/servers/notes/tools');
    expect(tools.body.items.map(({ name }: { name: string }) => name)).toEqual(['note', 'slow_note', 'publish', 'build']);
    expect(await outcome(parley, await start(parley, { server: 'notes', tool: 'absent' }))).toMatchObject({
      outcome: 'refused',
      reason: 'tool_unknown',
    });
  }, 60_000);

  it('asks, is parked, is answered, and completes on the process that asked [P1]', async () => {
    const { parley, effects } = await withNotes();
    const ids = await Promise.all([start(parley, publish), start(parley, publish)]);
    const consents = await Promise.all(ids.map((id) => asked(parley, id)));
    expect(consents[0].server.origin).toBe('stdio:node');
    // Longer than the lease: the worker is heard of meanwhile.
    await sleep(leaseMs + 1_500);
    for (const consent of consents) await accept(parley, consent, yes);
    for (const id of ids) expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    const done = await effects();
    expect(done.map(({ tool }) => tool)).toEqual(['publish', 'publish']);
    expect(new Set(done.map(({ pid }) => pid)).size).toBe(1);
    // An auditor can tell which process was spoken to.
    const audits = await Promise.all(ids.map((id) => auditOf(parley, id)));
    const generations = audits.flat().flatMap(({ connection }) => (connection === undefined ? [] : [connection]));
    expect(generations).toHaveLength(2 * ids.length);
    expect(parley.logs().join('\n')).toContain(generations[0]);
    expect(new Set(generations).size).toBe(1);
  }, 60_000);

  it('is polled on the process that wants to be called again', async () => {
    const { parley, effects } = await withNotes();
    const id = await start(parley, { server: 'notes', tool: 'build', arguments: { title: 'site' } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 3 });
    expect(await effects()).toHaveLength(1);
  }, 60_000);

  it('goes to the worker whose process asked, whichever worker is idle [P1]', async () => {
    const { parley, effects } = await withNotes();
    await parley.start('worker');
    const ids = await Promise.all(Array.from({ length: 8 }, () => start(parley, publish)));
    for (const id of ids) await accept(parley, await asked(parley, id), yes);
    // The server refuses a draft of another process, so each of these proves the way.
    for (const id of ids) expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(await effects()).toHaveLength(ids.length);
  }, 90_000);
});

describe('a call whose connection is lost', () => {
  it('while a person thinks, with its worker: ends within the lease and is not replayed to a new worker [P1] [P3]', async () => {
    const { parley, effects, processes } = await withNotes();
    const id = await start(parley, publish);
    const consent = await asked(parley, id);
    const child = (await processes())[0] ?? 0;
    const killedAt = Date.now();
    await parley.restartWorker('kill');
    expect(await outcome(parley, id)).toMatchObject({ ...lost, leg: 2 });
    expect(Date.now() - killedAt).toBeLessThan(leaseMs + slackMs);
    // Nothing outlives a worker that was killed.
    await until(() => (isRunning(child) ? undefined : true));

    const late = await answer(parley, consent, { publish: { action: 'accept', content: { confirm: true } } });
    expect(late.status, late.text).toBe(409);
    expect(late.body.code).toBe('consent_withdrawn');
    expect((await auditOf(parley, id)).map(({ type }) => type)).not.toContain('answer_accepted');
    // The new worker has a process of its own, which new calls use.
    expect(await outcome(parley, await start(parley, { ...publish, tool: 'note' }))).toMatchObject({ outcome: 'completed' });
    expect(await effects()).toMatchObject([{ tool: 'note' }]);
  }, 90_000);

  it('before its answer is sent: the answer counts, and nothing is sent [P1]', async () => {
    const { parley, effects } = await withNotes('PT20S');
    const id = await start(parley, publish);
    const consent = await asked(parley, id);
    const holder = parley.process('worker');
    await parley.start('worker');
    await holder.kill();
    await answer(parley, consent, { publish: { action: 'accept', content: { confirm: true } } });
    expect(await outcome(parley, id, 60_000)).toMatchObject(lost);
    expect(await effects()).toEqual([]);
  }, 120_000);

  it('while a person thinks, with its process alone: ends at once, and a new call starts a new process [P1]', async () => {
    const { parley, effects, processes } = await withNotes();
    const id = await start(parley, publish);
    const consent = await asked(parley, id);
    const [child] = await processes();
    process.kill(child ?? 0, 'SIGKILL');
    expect(await outcome(parley, id)).toMatchObject(lost);
    expect((await parley.api(`/v1/consents/${consent.id}`)).body.status).toBe('withdrawn');
    const next = await start(parley, publish);
    await accept(parley, await asked(parley, next), yes);
    expect(await outcome(parley, next)).toMatchObject({ outcome: 'completed' });
    expect(await effects()).toHaveLength(1);
    expect(await processes()).not.toContain(child);
  }, 90_000);

  it('when the worker is stopped: ends at once, with the process', async () => {
    const { parley, processes } = await withNotes('PT60S');
    const id = await start(parley, publish);
    await asked(parley, id);
    const [child] = await processes();
    const holder = parley.process('worker');
    await parley.start('worker');
    expect(await holder.stop()).toEqual({ code: 0, signal: null });
    expect(await outcome(parley, id)).toMatchObject(lost);
    expect(isRunning(child ?? 0)).toBe(false);
  }, 90_000);

  it('on the wire: nobody can tell what came of it [P1]', async () => {
    const { parley, effects, processes } = await withNotes();
    const id = await start(parley, { server: 'notes', tool: 'slow_note', arguments: { title: 'slow' } });
    await until(async () => ((await effects()).length === 1 ? true : undefined));
    const [child] = await processes();
    process.kill(child ?? 0, 'SIGKILL');
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'indeterminate', reason: 'leg_unknown' });
    expect(await effects()).toHaveLength(1);
  }, 60_000);
});

describe('a program that misbehaves', () => {
  it('harms its own calls alone, and says nothing in the log [P5]', async () => {
    const behaviours = {
      'prints-garbage': ['prints garbage', { outcome: 'completed' }],
      floods: ['prints without a newline', { outcome: 'indeterminate' }],
      foreign: ['answers foreign ids', { outcome: 'completed' }],
      mute: ['answers foreign ids alone', { outcome: 'indeterminate' }],
      gone: ['exits at once', { outcome: 'unreachable' }],
      environment: ['names its environment', { outcome: 'completed' }],
    } as const;
    const servers = Object.entries(behaviours).map(([id, [behaviour]]) => ({
      ...program(id, [join(root, 'test/harness/hostile-stdio.mjs'), behaviour]),
      env: { WORD: 'canary-literal', TOKEN: { env: 'STDIO_TEST_TOKEN' } },
      policy: { legDeadline: 'PT3S', maxResultBytes: 100_000 },
    }));
    const parley = await undo.parleyOf({ servers, env: { STDIO_TEST_TOKEN: 'canary-secret' } });
    const ids = await Promise.all(servers.map(({ id: server }) => start(parley, { server, tool: 'go' })));
    const ended = await Promise.all(ids.map((id) => outcome(parley, id, 40_000)));
    expect(ended).toMatchObject(Object.values(behaviours).map(([, expected]) => expected));

    const environment = JSON.parse(ended.at(-1).result.content[0].text);
    expect(environment).toMatchObject({ WORD: 'canary-literal', TOKEN: 'canary-secret', PATH: process.env['PATH'] });
    expect(Object.keys(environment).filter((name) => /PARLEY|REDIS|TEMPORAL/.test(name))).toEqual([]);
    const log = parley.logs().join('\n');
    expect(log).toContain('connection_opened');
    expect(log).not.toMatch(/canary|loading \d/);
  }, 90_000);
});

describe('a program that takes no hint', () => {
  it('does not outlive a worker that is killed, nor does what it has started', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-stdio-'));
    undo.push(() => rm(dir, { recursive: true }));
    const file = join(dir, 'pids');
    const deaf = program('deaf', [join(root, 'test/harness/hostile-stdio.mjs'), 'outlives its worker', file]);
    const parley = await undo.parleyOf({ servers: [deaf] });
    expect(await outcome(parley, await start(parley, { server: 'deaf', tool: 'go' }))).toMatchObject({ outcome: 'completed' });
    const pids = (await readFile(file, 'utf8')).trim().split('\n').map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await parley.process('worker').kill();
    await until(() => !pids.some(isRunning));
  }, 60_000);
});

interface Effect {
  readonly tool: string;
  readonly title: string;
  readonly pid: number;
}

interface Notes {
  readonly parley: Parley;
  effects(): Promise<Effect[]>;
  /** Of the programs that run now. */
  processes(): Promise<number[]>;
}

async function withNotes(lease = `PT${leaseMs / 1_000}S`): Promise<Notes> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-stdio-'));
  undo.push(() => rm(dir, { recursive: true }));
  const file = join(dir, 'effects');
  const notes = program('notes', [built('examples/stdio-server/main.js'), '--effects', file]);
  const parley = await undo.parleyOf({ servers: [notes], env: { PARLEY_CONNECTION_LEASE: lease } });
  return {
    parley,
    effects: async () => linesOf(await readFile(file, 'utf8').catch(() => '')) as Effect[],
    processes: async () => {
      const events = linesOf(parley.logs().join('\n')) as { event?: string; pid: number }[];
      return events
        .filter(({ event }) => event === 'connection_opened')
        .map(({ pid }) => pid)
        .filter(isRunning);
    },
  };
}

function program(id: string, args: readonly string[]): WrittenServer {
  return { id, transport: 'stdio', command: process.execPath, args };
}

function linesOf(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as unknown);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
