/** Promise 2: a parked call costs no process. Everything is killed between the question and the answer, and nothing is lost. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort } from '../tools/ports.js';
import { findOrBringRedis, findOrBringTemporal, type Service } from '../tools/services.js';
import { acceptLater, asked, deployTo, exampleLegs, invocation, outcome, start } from './harness/conversation.js';
import { undoAfterEach } from './harness/undo.js';

const undo = undoAfterEach();

const deploy = { tool: 'deploy', arguments: { artifact: 'build-3' } };

describe('a parked call', () => {
  it('survives SIGKILL of the API, the worker, Temporal and the store, and its answer counts once [P1] [P2]', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-restart-'));
    undo.push(() => rm(dir, { recursive: true, force: true }));
    const ports = { temporal: await freePort(), redis: await freePort() };
    const services: Service[] = [];
    undo.push(async () => Promise.all(services.map((service) => service.stop())));
    const bring = async (): Promise<void> => {
      const log = (): void => {};
      services.push(
        await findOrBringTemporal({ log, dataDir: join(dir, 'temporal'), port: ports.temporal }),
        await findOrBringRedis({ log, dataDir: join(dir, 'redis'), port: ports.redis }),
      );
    };
    await bring();
    const parley = await undo.parleyOf({
      env: { TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`, REDIS_URL: `redis://127.0.0.1:${ports.redis}` },
    });
    const id = await start(parley, deploy);
    const consent = await asked(parley, id);
    const short = await start(parley, { ...deploy, policy: { roundDeadline: 'PT2S' } });
    await asked(parley, short);

    await Promise.all([parley.process('api').kill(), parley.process('worker').kill()]);
    await Promise.all(services.splice(0).map((service) => service.kill()));
    await bring();
    await Promise.all([parley.start('api'), parley.start('worker')]);

    expect(await invocation(parley, id)).toMatchObject({ status: 'awaiting_input', consent: consent.id, round: 1 });
    expect((await parley.api(`/v1/consents/${consent.id}`)).body).toEqual(consent);
    await acceptLater(parley, consent, deployTo('production'));
    const closed = await outcome(parley, id);
    expect(closed.result.content[0].text).toBe('build-3 was deployed to production');
    expect(exampleLegs(parley, id)).toHaveLength(2);
    expect(parley.example.effects().byTool).toEqual({ deploy: 1 });
    // A deadline is a timer, not a process: the other call has expired meanwhile or does now.
    expect(await outcome(parley, short)).toMatchObject({ outcome: 'expired', reason: 'round_deadline' });
  }, 90_000);

  it('goes through three rounds with a worker killed after each question [P2]', async () => {
    const parley = await undo.parleyOf();
    const id = await start(parley, { tool: 'onboard', arguments: { company: 'Acme' } });
    const rounds = [
      { person: { name: 'Ada', email: 'ada@example.com', startsOn: '2027-01-04' } },
      { job: { team: 'run', level: 'l1', skills: ['go'] } },
      { terms: { salary: 1, daysOff: 20, signed: true } },
    ];
    for (const [index, contents] of rounds.entries()) {
      const consent = await asked(parley, id, index + 1);
      await parley.restartWorker('kill');
      await acceptLater(parley, consent, contents);
    }
    expect(await outcome(parley, id, 30_000)).toMatchObject({ outcome: 'completed', leg: 4 });
    expect(exampleLegs(parley, id)).toHaveLength(4);
    expect(parley.example.effects().byTool).toEqual({ onboard: 1 });
  }, 120_000);
});
