/**
 * The table of hostile servers, end to end: each call ends as its row says, in time, after exactly as many requests as its row says; and
 * the worker process is the same afterwards, well, and no larger than it may be.
 *
 * Arguments that are altered between legs take a writer in the store: activities/leg-planner.spec.ts.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, asked, auditOf, outcome, start } from '../harness/conversation.js';
import { startParley, type Parley } from '../harness/parley.js';
import { answers } from './answers.js';
import { bombs } from './bombs.js';
import { checkbox, go, type HostileCase } from './case.js';
import { faults } from './faults.js';
import { HostileServer } from './server.js';
import { results } from './results.js';
import { shapes } from './shapes.js';

interface Group {
  readonly title: string;
  readonly cases: readonly HostileCase[];
}

const groups: readonly Group[] = [
  { title: 'a result of the wrong shape [P1] [P5]', cases: [...shapes, ...results] },
  { title: 'a fault of HTTP [P1]', cases: faults },
  { title: 'a question that is too much [P5]', cases: bombs },
  { title: 'an answer that does not count [P3]', cases: answers },
];

const maxMebibytes = 300;

/** The server of its call is registered elsewhere while the person thinks. */
const moved: HostileCase = {
  name: 'registration-that-changes-between-legs',
  serves: go(checkbox),
  ends: { outcome: 'binding_lost', reason: 'server_changed' },
  legs: 1,
};
const all = [...groups.flatMap(({ cases }) => cases), moved];

/** As docs/operations.md recommends where memory is scarce. */
const smallWorker = { NODE_OPTIONS: '--max-semi-space-size=2 --max-old-space-size=192', MALLOC_ARENA_MAX: '2' };

let parley: Parley;
let server: HostileServer;
let workerPid: number;

beforeAll(async () => {
  server = await new HostileServer(new Map(all.map((each) => [each.name, each]))).open();
  parley = await startParley({ servers: registrations(`${server.origin}/mcp`), worker: false });
  await parley.start('worker', smallWorker);
  workerPid = parley.process('worker').pid;
});
afterAll(async () => {
  await parley?.stop();
  server?.close();
});

/** @param url of `hostile`; every other stays where it is */
function registrations(url: string) {
  const usual = `${server.origin}/mcp`;
  return [
    { id: 'hostile', url },
    { id: 'impatient', url: usual, policy: { maxPolls: 3 } },
    { id: 'forms', url: usual, policy: { allow: { url: false } } },
    { id: 'trusted', url: usual, policy: { allow: { sampling: true, roots: true }, allowLoopbackUrls: true } },
    { id: 'asks-on-discover', url: `${server.origin}/asks-on-discover` },
    { id: 'asks-on-list', url: `${server.origin}/asks-on-list` },
  ];
}

async function startCase({ name, server: id = 'hostile', method = 'tools/call', policy }: HostileCase): Promise<string> {
  const params = {
    'tools/call': { name, arguments: {} },
    'prompts/get': { name },
    'resources/read': { uri: `hostile://${name}` },
  }[method];
  return start(parley, { server: id, method, params, ...(policy !== undefined && { policy }) });
}

async function expectEnding(hostile: HostileCase, invocation: string): Promise<void> {
  const { name, ends, legs, echoes, endsWithinMs = 30_000 } = hostile;
  const closed = await outcome(parley, invocation, endsWithinMs);
  expect(closed).toMatchObject({
    outcome: ends.outcome,
    reason: ends.reason,
    consent: null,
    ...(ends.result !== undefined && { result: ends.result }),
    ...(ends.detail !== undefined && { problem: { detail: ends.detail } }),
  });
  expect(closed.problem?.key ?? undefined).toBe(ends.key);
  expect(server.legs(name)).toHaveLength(legs);
  if (echoes === undefined) return;
  const { inputResponses, requestState } = server.legs(name)[1]?.params ?? {};
  // As text: members in order, none that is undefined, and `__proto__` like any other.
  expect(JSON.stringify({ inputResponses, requestState })).toBe(JSON.stringify(echoes));
}

async function expectWorkerWell(): Promise<void> {
  const worker = parley.process('worker');
  expect([worker.pid, worker.isRunning]).toEqual([workerPid, true]);
  expect((await fetch(`${worker.url}/health/ready`)).status).toBe(200);
}

/** The most that was resident at once since the group began. */
async function peakMebibytes(): Promise<number> {
  const status = await readFile(`/proc/${workerPid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

describe.each(groups)('$title', ({ cases }) => {
  beforeAll(async () => writeFile(`/proc/${workerPid}/clear_refs`, '5'));

  it.concurrent.each(cases.map((each) => [each.name, `${each.ends.outcome}, ${each.ends.reason}`, each] as const))(
    '%s (%s)',
    async (_name, _ending, hostile) => {
      const invocation = await startCase(hostile);
      if (hostile.person !== undefined) {
        const consent = await asked(parley, invocation, 1, hostile.endsWithinMs);
        await hostile.person({ parley, invocation, consent });
      }
      await expectEnding(hostile, invocation);
      await expectWorkerWell();
    },
    90_000,
  );

  it('afterwards nobody is asked, nothing more was sent, and nothing was sent or fetched elsewhere', async () => {
    expect(cases.map(({ name }) => [name, server.legs(name).length])).toEqual(cases.map(({ name, legs }) => [name, legs]));
    expect(server.strays).toEqual([]);
    expect(server.baited).toEqual([]);
    expect((await parley.api('/v1/consents')).body.items).toEqual([]);
  });

  it(`kept the worker below ${maxMebibytes} MiB`, async () => {
    await expectWorkerWell();
    expect(await peakMebibytes()).toBeLessThan(maxMebibytes);
  });
});

describe('a server', () => {
  it('that asks where it must not gets no answer to it: both processes ask once, and no more [P1]', () => {
    expect(['/asks-on-discover', '/asks-on-list'].map((path) => server.questions(path))).toEqual([2, 2]);
  });

  it('whose round was refused has put nothing on record that a person could have been asked [P5]', async () => {
    const { items } = (await parley.api('/v1/invocations?limit=100')).body as { items: { id: string; outcome: string }[] };
    const refused = items.filter((item) => item.outcome === 'refused').slice(0, 5);
    expect(refused.length).toBeGreaterThan(0);
    for (const { id } of refused) {
      expect((await auditOf(parley, id)).map(({ type }) => type)).toEqual([
        'invocation_started',
        'leg_submitted',
        'invocation_closed',
      ]);
    }
  });

  it('whose registration leads elsewhere when the person answers gets nothing, and neither does the other (server_changed) [P1]', async () => {
    const invocation = await startCase(moved);
    const consent = await asked(parley, invocation);
    await parley.register(registrations(`${server.elsewhere}/mcp`));
    await Promise.all([parley.restartApi(), parley.restartWorker()]);
    const reply = await answer(parley, consent, { go: { action: 'accept', content: { ok: true } } });
    expect([reply.status, reply.body.code, reply.body.detail]).toEqual([409, 'binding_lost', 'server_changed']);
    await expectEnding(moved, invocation);
    expect([server.strays, server.baited]).toEqual([[], []]);
  }, 90_000);
});
