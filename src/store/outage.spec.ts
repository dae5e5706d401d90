import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ApiInProcess, startApiInProcess } from '../../test/harness/api-in-process.js';
import { TcpGate } from '../../test/harness/tcp-gate.js';
import { until } from '../../tools/until.js';

let gate: TcpGate;
let api: ApiInProcess;
beforeAll(async () => {
  gate = await new TcpGate(new URL(inject('redisUrl'))).open();
  api = await startApiInProcess({ env: { REDIS_URL: gate.url } });
});
afterAll(async () => {
  await api.close();
  await gate.shut();
});

describe('an API whose store goes away', () => {
  it('says so (store_unavailable), stays up, and works again when the store is back', async () => {
    expect((await api.fetch('/v1/invocations')).status).toBe(200);
    await gate.shut();
    const reply = await api.fetch('/v1/invocations');
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('2');
    expect(await reply.json()).toMatchObject({ code: 'store_unavailable' });
    await gate.open();
    await until(async () => (await api.fetch('/v1/invocations')).status === 200);
  });
});
