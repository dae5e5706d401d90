import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startExampleServer } from '../../examples/server/server.js';
import { FaultServer, json, result, rpcError, type Received } from '../../test/harness/fault-server.js';
import { Catalog, toolDigest } from './catalog.js';

const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
};
const page = (tools: object[], nextCursor?: string) => ({
  resultType: 'complete',
  tools,
  ttlMs: 0,
  cacheScope: 'private',
  ...(nextCursor !== undefined && { nextCursor }),
});
const aTool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

describe('the catalog', () => {
  let catalog: Catalog;
  let server: FaultServer;

  beforeEach(() => {
    catalog = new Catalog();
    server = new FaultServer();
  });
  afterEach(async () => {
    await catalog.close();
    server.stop();
  });

  async function listing(tools: (request: Received, res: ServerResponse) => object) {
    const url = await server.start((res, request) => {
      const { id, method } = request.body;
      json(res, 200, result(id, method === 'server/discover' ? discovered : tools(request, res)));
    });
    return { id: 'x', url, key: 'k' };
  }
  async function failing(behave: (res: ServerResponse) => void) {
    return { id: 'x', url: await server.start(behave), key: 'k' };
  }
  const asked = () => server.received.map(({ body }) => body.method);

  it('describes a real server by its discovery and its tools', async () => {
    const example = await startExampleServer({ port: 0 });
    const { discover, tools } = await catalog.describe({ id: 'x', url: example.url, key: 'example' }, 0);
    expect(discover.supportedVersions).toContain('2026-07-28');
    expect([...tools.keys()].sort()).toEqual(['deploy', 'echo', 'onboard', 'report', 'transfer']);
    await example.close();
  });

  it.each(['server/discover', 'tools/list'])(
    'takes a question in answer to %s for no answer (invalid), and asks once',
    async (method) => {
      const url = await server.start((res, { body }) => {
        json(
          res,
          200,
          result(body.id, body.method === method ? { resultType: 'input_required', requestState: 's' } : discovered),
        );
      });
      await expect(catalog.describe({ id: 'x', url, key: 'k' }, 0)).rejects.toMatchObject({ code: 'invalid' });
      expect(asked().filter((each) => each === method)).toHaveLength(1);
    },
  );

  it('reads every page of the tools', async () => {
    const endpoint = await listing(({ body }) => (body.params?.['cursor'] ? page([aTool('b')]) : page([aTool('a')], 'next')));
    expect([...(await catalog.describe(endpoint, 0)).tools.keys()]).toEqual(['a', 'b']);
  });

  it('keeps a description as long as it may, and the discovery when only the tools are asked for afresh', async () => {
    const endpoint = await listing(() => page([aTool('a')]));
    const first = await catalog.describe(endpoint, 60_000);
    expect(await catalog.describe(endpoint, 60_000)).toBe(first);
    expect(asked()).toEqual(['server/discover', 'tools/list']);
    await catalog.describe(endpoint, 0);
    expect(asked()).toEqual(['server/discover', 'tools/list', 'tools/list']);
  });

  it('asks once for callers at the same time', async () => {
    const endpoint = await listing(() => page([aTool('a')]));
    const [one, two] = await Promise.all([catalog.describe(endpoint, 0), catalog.describe(endpoint, 0)]);
    expect(one).toBe(two);
    expect(asked()).toEqual(['server/discover', 'tools/list']);
  });

  it('sends the bearer token, and shares nothing between registrations', async () => {
    const endpoint = await listing(() => page([]));
    await catalog.describe({ ...endpoint, bearer: 'sesame' }, 60_000);
    await catalog.describe({ ...endpoint, key: 'other' }, 60_000);
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sesame',
      'Bearer sesame',
      undefined,
      undefined,
    ]);
  });

  it('keeps one description of a registration, for whoever it is spoken to as now', async () => {
    const endpoint = await listing(({ headers }) => page([aTool(headers.authorization === 'Bearer b' ? 'b' : 'a')]));
    const namesAs = async (bearer: string) => [...(await catalog.describe({ ...endpoint, bearer }, 60_000)).tools.keys()];
    // At the same time as well: an answer to one bearer is none to the other.
    expect(await Promise.all([namesAs('a'), namesAs('b')])).toEqual([['a'], ['b']]);
    expect(await namesAs('b')).toEqual(['b']);
    expect(asked().filter((method) => method === 'tools/list')).toHaveLength(2);
    expect(await namesAs('a')).toEqual(['a']);
    expect(asked().filter((method) => method === 'server/discover')).toHaveLength(3);
  });

  it('offers no tool that cannot be bound to a call', async () => {
    const endpoint = await listing(() => page([aTool('a'), aTool('b', { description: '\ud800' })]));
    expect([...(await catalog.describe(endpoint, 0)).tools.keys()]).toEqual(['a']);
  });

  it.each<[string, object]>([
    ['is empty', { value: { type: 'string', 'x-mcp-header': '' } }],
    ['is no name of a header', { value: { type: 'string', 'x-mcp-header': 'My Region' } }],
    ['is for an object', { value: { type: 'object', 'x-mcp-header': 'Value' } }],
    ['is for a number that need not be an integer', { value: { type: 'number', 'x-mcp-header': 'Value' } }],
    ['is there twice', { a: { type: 'string', 'x-mcp-header': 'Value' }, b: { type: 'string', 'x-mcp-header': 'value' } }],
  ])('offers no tool with an x-mcp-header that %s, and every other tool', async (_, properties) => {
    const unfit = aTool('unfit', { inputSchema: { type: 'object', properties } });
    const endpoint = await listing(() => page([unfit, aTool('fit')]));
    expect([...(await catalog.describe(endpoint, 0)).tools.keys()]).toEqual(['fit']);
  });

  it('asks once more when a server refuses its revision and then names it', async () => {
    const data = { supported: ['2026-07-28'], requested: '2026-07-28' };
    const endpoint = await failing((res) => {
      const { id, method } = server.received.at(-1)!.body;
      if (server.received.length === 1) json(res, 400, rpcError(id, -32022, 'Unsupported protocol version', data));
      else json(res, 200, result(id, method === 'server/discover' ? discovered : page([aTool('a')])));
    });
    expect([...(await catalog.describe(endpoint, 0)).tools.keys()]).toEqual(['a']);
    expect(asked()).toEqual(['server/discover', 'server/discover', 'tools/list']);
  });

  it('refuses two tools of one name (invalid)', async () => {
    const endpoint = await listing(() => page([aTool('a'), aTool('a', { title: 'other' })]));
    await expect(catalog.describe(endpoint, 0)).rejects.toMatchObject({ code: 'invalid' });
  });

  it('refuses tools without end (invalid)', async () => {
    let cursor = 0;
    const endpoint = await listing(() => page([aTool(`t${cursor}`)], String((cursor += 1))));
    await expect(catalog.describe(endpoint, 0)).rejects.toMatchObject({ code: 'invalid' });
    expect(server.received.length).toBeLessThan(60);
  });

  it('refuses too much of it, also in many pages (invalid)', async () => {
    let cursor = 0;
    const endpoint = await listing(() =>
      page([aTool(`t${cursor}`, { description: 'x'.repeat(3_000_000) })], String((cursor += 1))),
    );
    await expect(catalog.describe(endpoint, 0)).rejects.toMatchObject({ code: 'invalid' });
    expect(server.received.length).toBeLessThan(6);
  });

  it.each<[string, string, (res: ServerResponse) => void]>([
    ['unauthorized', 'HTTP 401', (res) => res.writeHead(401).end()],
    ['unauthorized', 'HTTP 403', (res) => res.writeHead(403).end()],
    ['unreachable', 'HTTP 429', (res) => res.writeHead(429).end()],
    ['unreachable', 'HTTP 503', (res) => res.writeHead(503).end()],
    ['unreachable', 'a connection that dies', (res) => res.socket?.destroy()],
    ['invalid', 'a redirect', (res) => res.writeHead(307, { location: '/elsewhere' }).end()],
    ['invalid', 'HTTP 404', (res) => res.writeHead(404).end()],
    ['invalid', 'HTML', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
    ['invalid', 'broken JSON', (res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{')],
    ['invalid', 'another protocol', (res) => json(res, 200, { hello: 1 })],
  ])('is %s after %s, and says so without contents', async (code, _, behave) => {
    const fault = await catalog.describe(await failing(behave), 0).catch((error: unknown) => error);
    expect(fault).toMatchObject({ name: 'CatalogFault', code });
    expect(String(fault)).not.toContain('<p>');
  });

  it('is unreachable when nothing listens (ECONNREFUSED)', async () => {
    const endpoint = await failing(() => {});
    server.stop();
    await expect(catalog.describe(endpoint, 0)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('cannot ask with a token that no header can hold, and says no more (invalid)', async () => {
    const endpoint = { ...(await failing(() => {})), bearer: 'open\nsesame' };
    const fault = await catalog.describe(endpoint, 0).catch((error: unknown) => error);
    expect(fault).toMatchObject({ name: 'CatalogFault', code: 'invalid', message: 'server x could not be asked' });
    expect(server.received).toEqual([]);
  });

  it('asks anew after a failure', async () => {
    let isBroken = true;
    const url = await server.start((res, { body }) => {
      if (isBroken) return res.writeHead(503).end();
      return json(res, 200, result(body.id, body.method === 'server/discover' ? discovered : page([])));
    });
    const endpoint = { id: 'x', url, key: 'k' };
    await expect(catalog.describe(endpoint, 0)).rejects.toMatchObject({ code: 'unreachable' });
    isBroken = false;
    await expect(catalog.describe(endpoint, 0)).resolves.toMatchObject({ tools: new Map() });
  });
});

describe('the digest of a tool', () => {
  const tool = { ...aTool('a'), title: 'A', annotations: { readOnlyHint: true } } as Parameters<typeof toolDigest>[0];

  it('does not depend on the order of members, nor on what nobody relies on', () => {
    const { name, ...rest } = tool;
    expect(toolDigest({ ...rest, name, icons: [] })).toBe(toolDigest(tool));
  });

  it.each([
    ['title', { title: 'B' }],
    ['description', { description: 'new' }],
    ['inputSchema', { inputSchema: { type: 'object' as const, properties: { x: {} } } }],
    ['outputSchema', { outputSchema: { type: 'object' as const } }],
    ['annotations', { annotations: { readOnlyHint: false } }],
  ])('changes with its %s', (_, change) => {
    expect(toolDigest({ ...tool, ...change })).not.toBe(toolDigest(tool));
  });
});
