/** The API process itself: how it starts, and that it stops cleanly (design §2.2). */

import { afterEach, describe, expect, it } from 'vitest';
import { Child } from '../tools/child.js';
import { devToken } from '../tools/dev-token.js';
import { startParley, until, type Parley } from './harness/parley.js';

let parley: Parley | undefined;
afterEach(async () => parley?.stop());

describe('the API process', () => {
  it('is not ready from the moment it is told to stop, answers what is under way, and exits with 0', async () => {
    parley = await startParley({ worker: false, env: { PARLEY_STOP_DELAY: 'PT3S' } });
    const api = parley.process('api');
    expect((await fetch(`${api.url}/health/ready`)).status).toBe(200);
    const start = {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await devToken(parley.secrets, { tenant: 't1', sub: 'user-1' })}`,
        'content-type': 'application/json',
        'idempotency-key': 'k1',
        prefer: 'wait=30',
      },
      body: JSON.stringify({ server: 'example', method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } }),
    };
    const waiting = fetch(`${api.url}/v1/invocations`, start);
    const exited = api.stop();
    await until(async () => (await fetch(`${api.url}/health/ready`)).status === 503, 2_500);
    expect((await waiting).status).toBe(202);
    expect(await exited).toEqual({ code: 0, signal: null });
  });
});

describe('an API that cannot run as it is configured', () => {
  it('says what is wrong in one line without a value of it, and exits with 1', async () => {
    const child = new Child({
      name: 'api',
      command: process.execPath,
      args: ['dist/src/main.api.js'],
      env: { PARLEY_HTTP_PORT: 'hunter2', PARLEY_SEAL_KEYS: 'hunter2' },
    });
    expect(await child.exited).toEqual({ code: 1, signal: null });
    const [line = '', ...others] = child.lines();
    expect(others).toEqual([]);
    expect(line).not.toContain('hunter2');
    expect(JSON.parse(line)).toMatchObject({
      event: 'start_failed',
      reason: expect.stringMatching(/PARLEY_ISSUER: is not set(.|\n)*PARLEY_HTTP_PORT: expected a port/),
    });
  });
});
