import { afterEach, describe, expect, it } from 'vitest';
import { type ApiInProcess, startApiInProcess } from '../../test/harness/api-in-process.js';
import { until } from '../../tools/until.js';
import { Readiness } from './readiness.js';

let api: ApiInProcess;
afterEach(() => api.close());
const ready = async () => (await fetch(`${api.url}/health/ready`)).status;

describe('Readiness', () => {
  it('begins when the store and Temporal have answered once, and ends when the process is told to stop', async () => {
    api = await startApiInProcess();
    const readiness = api.app.get(Readiness);
    expect(await ready()).toBe(503);
    await readiness.untilReady();
    expect(await ready()).toBe(200);
    readiness.beginStop();
    expect(readiness.stopping.aborted).toBe(true);
    expect(await ready()).toBe(503);
  });

  it('does not begin while Temporal is away; live, reads and stopping work all the same', async () => {
    api = await startApiInProcess({ env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
    const readiness = api.app.get(Readiness);
    const waiting = readiness.untilReady();
    await until(() => readiness.seen.store);
    const reply = await fetch(`${api.url}/health/ready`);
    expect(await reply.json()).toEqual({ status: 'starting', seen: { store: true, temporal: false } });
    expect((await api.fetch('/v1/servers')).status).toBe(200);
    readiness.beginStop();
    await waiting;
    expect(readiness.state).toBe('stopping');
  });
});
