import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiInProcess, startApiInProcess } from '../../test/harness/api-in-process.js';
import type { CodecBody } from './codec.contract.js';

const uiOrigin = 'http://127.0.0.1:8233';
let api: ApiInProcess;
let operator: Record<string, string>;
beforeAll(async () => {
  api = await startApiInProcess({ env: { PARLEY_UI_ORIGIN: uiOrigin } });
  const token = await api.token({ scopes: ['codec:decode'] });
  operator = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
});
afterAll(() => api.close());

const base64 = (text: string) => Buffer.from(text).toString('base64');
const plain = (text: string) => ({ metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(text)) });
const post = async (path: string, body: CodecBody, headers = operator) =>
  api.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
const payloadsOf = async (reply: Response) => ((await reply.json()) as CodecBody).payloads;

describe('the codec server', () => {
  it('opens what it closed, in order and number, with the namespace in the path or not', async () => {
    const payloads = [plain('one'), plain('two')];
    const closed = await payloadsOf(await post('/codec/encode', { payloads }));
    expect(JSON.stringify(closed)).not.toContain(payloads[0]?.data);
    for (const path of ['/codec/decode', '/codec/default/decode']) {
      expect(await payloadsOf(await post(path, { payloads: closed }))).toEqual(payloads);
    }
  });

  it('gives back what it cannot open as it came', async () => {
    const [closed] = await payloadsOf(await post('/codec/encode', { payloads: [plain('x')] }));
    const altered = { ...closed, data: base64('altered') };
    const unknownKey = { ...closed, metadata: { ...closed?.metadata, 'encryption-key-id': base64('gone') } };
    const payloads = [plain('server-made'), altered, unknownKey];
    expect(await payloadsOf(await post('/codec/decode', { payloads }))).toEqual(payloads);
  });

  it('takes a page of history at once', async () => {
    const payloads = Array.from({ length: 100 }, () => plain('x'.repeat(100_000)));
    expect((await post('/codec/encode', { payloads })).status).toBe(200);
  });

  it('is for operators (scope_missing)', async () => {
    const headers = { authorization: `Bearer ${await api.token()}`, 'content-type': 'application/json' };
    expect(await (await post('/codec/decode', { payloads: [] }, headers)).json()).toMatchObject({ code: 'scope_missing' });
  });

  it('lets the one configured Temporal UI call it from a browser, and nothing else of the API', async () => {
    const preflight = (path: string, origin: string) =>
      fetch(api.url + path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
    const allowed = await preflight('/codec/decode', uiOrigin);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(uiOrigin);
    expect((await preflight('/codec/decode', 'https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
    expect((await preflight('/v1/servers', uiOrigin)).headers.get('access-control-allow-origin')).toBeNull();
  });
});
