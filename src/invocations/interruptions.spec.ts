/** A start while the API stops, or while Temporal is away. */

import { describe, expect, it } from 'vitest';
import { startApiInProcess } from '../../test/harness/api-in-process.js';
import { Readiness } from '../health/readiness.js';
import { Records } from '../records/records.js';

/** Cannot be asked for its tools, which stops no start. */
const servers = [{ id: 'away', title: 'Away', transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' }];
const echo = { server: 'away', method: 'tools/call', params: { name: 'echo' } };

describe('a stop', () => {
  it('lets a waiting request answer with what is known', async () => {
    const brief = await startApiInProcess({ servers });
    try {
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'once', prefer: 'wait=60' };
      const waiting = brief.fetch('/v1/invocations', { method: 'POST', body: JSON.stringify(echo), headers });
      await expect.poll(async () => (await brief.app.get(Records).list('t1', 'user-1', { limit: 1 })).items).toHaveLength(1);
      brief.app.get(Readiness).beginStop();
      expect((await waiting).status).toBe(202);
    } finally {
      await brief.close();
    }
  });
});

describe('without Temporal', () => {
  it('says so within seconds (temporal_unavailable), and the same key carries on later', async () => {
    const lonely = await startApiInProcess({ servers, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
    try {
      const init = {
        method: 'POST',
        body: JSON.stringify(echo),
        headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
      };
      for (let n = 0; n < 2; n++) {
        const reply = await lonely.fetch('/v1/invocations', init);
        expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([503, 'temporal_unavailable']);
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect((await lonely.app.get(Records).list('t1', 'user-1', { limit: 10 })).items).toHaveLength(1);
    } finally {
      await lonely.close();
    }
  });
});
