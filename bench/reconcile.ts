/**
 * `npm run bench:reconcile [-- --calls 100000]`: how long one run of the reconciler takes, and how much memory, over so many records with their
 * ledger rows in a store of its own: once all of them closed, once all of them open. The open ones have just changed, so that none is judged: what is
 * measured is the reading.
 */

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { invocationIdFrom } from '../domain/ids.js';
import { Keys } from '../src/store/keys.js';
import { Records, type InvocationRecord } from '../src/records/records.js';
import { connectRedis, type Redis } from '../src/store/redis.js';
import { readArgs } from '../tools/command-line.js';
import { DevSecrets } from '../tools/dev-secrets.js';
import type { Environment } from '../tools/processes.js';
import { built } from '../tools/root.js';
import { findOrBringRedis, findOrBringTemporal, type Service } from '../tools/services.js';

const prefix = `bench-${randomUUID()}`;
const batchSize = 1_000;
/** Printed by the measured process itself when it ends, in KiB. */
const tellMemory = `data:text/javascript,process.on('exit',()=>console.error('maxRSS '+process.resourceUsage().maxRSS))`;

const usage = 'usage: npm run bench:reconcile [-- --calls 100000]';
const calls = Number(readArgs(usage, { calls: { type: 'string', default: '100000' } }).calls);
if (!Number.isInteger(calls) || calls < 1) throw new RangeError(usage);
const dir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
const services: Service[] = [];
try {
  await measure();
} finally {
  for (const service of services) await service.stop();
  await rm(dir, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const log = (line: string) => console.error(line);
  const redisService = await findOrBringRedis({ log });
  services.push(redisService);
  const temporal = await findOrBringTemporal({ log });
  services.push(temporal);
  const secrets = await DevSecrets.in(join(dir, 'secrets'));
  await writeFile(join(dir, 'servers.yaml'), 'servers: []\n');
  const env = {
    TEMPORAL_ADDRESS: temporal.address,
    REDIS_URL: redisService.address,
    PARLEY_TASK_QUEUE: prefix,
    PARLEY_REDIS_PREFIX: prefix,
    PARLEY_SERVERS: join(dir, 'servers.yaml'),
    PARLEY_RECONCILE_GRACE: 'PT1H',
    ...secrets.environment(),
  };
  const redis = await connectRedis(redisService.address, { info: () => {}, warn: () => {} });
  tell('no calls', await run(env));
  for (const status of ['closed', 'sending'] as const) {
    await fill(redis, status);
    tell(`${calls} calls, all of them ${status === 'closed' ? 'closed' : 'open'}`, await run(env));
    await empty(redis);
  }
  redis.destroy();
}

interface Figures {
  readonly seconds: number;
  readonly maxMiB: number;
  readonly seen: unknown;
}

async function run(env: Environment): Promise<Figures> {
  const startedAt = performance.now();
  const args = ['--import', tellMemory, built('src/main.reconcile.js'), '--json'];
  const [text, told] = await new Promise<[string, string]>((ended) => {
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (_, stdout, stderr) => ended([stdout, stderr]));
  });
  if (text === '') throw new Error(`the reconciler printed nothing: ${told}`);
  const { seen, left } = JSON.parse(text) as { seen: unknown; left: readonly unknown[] };
  if (left.length > 0) throw new Error(`left: ${JSON.stringify(left.slice(0, 3))}`);
  const maxMiB = Math.round(Number(/maxRSS (\d+)/.exec(told)?.[1]) / 1_024);
  return { seconds: Math.round((performance.now() - startedAt) / 100) / 10, maxMiB, seen };
}

function tell(what: string, figures: Figures): void {
  console.log(`${what}: ${figures.seconds} s from start to exit, ${figures.maxMiB} MiB at most`);
  console.log(JSON.stringify({ what, ...figures, node: process.version }));
}

async function fill(redis: Redis, status: 'closed' | 'sending'): Promise<void> {
  const keys = new Keys(prefix);
  const dayMs = 24 * 60 * 60_000;
  const records = new Records(redis, keys, { retentionMs: dayMs, auditRetentionMs: dayMs });
  for (let from = 0; from < calls; from += batchSize) {
    const some = Array.from({ length: Math.min(batchSize, calls - from) }, () => aRecord(status));
    await Promise.all(
      some.flatMap((record) => [
        records.publish(record),
        redis.hSet(keys.ledger(record.tenant, record.id), {
          '1.state': 'done',
          '1.try': '1',
          '1.token': record.id,
          '1.begunAt': String(record.startedAt),
          '1.is': 'completed',
          '1.report': '{"outcome":{"is":"completed"}}',
        }),
      ]),
    );
  }
}

function aRecord(status: 'closed' | 'sending'): InvocationRecord {
  const now = Date.now();
  return {
    id: invocationIdFrom(randomUUID()),
    tenant: 'bench',
    subject: 'user-1',
    requester: 'agent',
    server: 'bench',
    method: 'tools/call',
    name: 'echo',
    paramsDigest: `sha256:${'0'.repeat(64)}`,
    status,
    outcome: status === 'closed' ? 'completed' : null,
    reason: status === 'closed' ? 'complete_result' : null,
    leg: 1,
    round: 0,
    consent: null,
    deadlineAt: null,
    startedAt: now,
    updatedAt: now,
    sequence: 1,
    result: null,
    problem: null,
  };
}

async function empty(redis: Redis): Promise<void> {
  const kinds = ['record', 'ledger', 'records-of', 'open-records'];
  for (const kind of kinds)
    for await (const names of redis.scanIterator({ MATCH: `${prefix}:${kind}*`, COUNT: batchSize })) {
      if (names.length > 0) await redis.unlink(names);
    }
}
