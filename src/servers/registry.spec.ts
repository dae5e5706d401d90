import { afterEach, describe, expect, it } from 'vitest';
import { digestOf as digestOfValue } from '../../domain/digest.js';
import { defaultPolicy } from '../../domain/policy.js';
import { bearerOf, CredentialFault } from './credentials.js';
import { Registry, RegistryFault } from './registry.js';

const file = 'parley.servers.yaml';
const parse = (text: string) => Registry.parse(text, file);
const complaintsOf = (text: string): string[] => {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof RegistryFault) return error.message.split('\n');
    throw error;
  }
  throw new Error('was accepted');
};

const good = `
servers:
  - id: deploys
    title: Deployments
    transport: streamable-http
    url: https://mcp.example.com/mcp
    credential: { env: DEPLOYS_TOKEN }
    policy:
      roundDeadline: P1D
      pollInitial: PT0.2S
      maxRounds: 3
      gate: { maxFields: 5 }
`;
const one = (lines: string) => good.replace('    transport: streamable-http', lines);

describe('Registry', () => {
  it('reads a server, with the default policy for what is left out', () => {
    const entry = parse(good).get('deploys');
    expect(entry).toMatchObject({ id: 'deploys', origin: 'https://mcp.example.com', credential: { env: 'DEPLOYS_TOKEN' } });
    expect(entry?.policy).toEqual({
      ...defaultPolicy,
      roundDeadlineMs: 86_400_000,
      pollInitialMs: 200,
      maxRounds: 3,
      gate: { ...defaultPolicy.gate, maxFields: 5 },
    });
  });

  it('binds a call to id, transport, URL and credential reference, and to the policy separately', () => {
    const digestOf = (text: string) => parse(text).get('deploys');
    const before = digestOf(good);
    expect(digestOf(good.replace('title: Deployments', 'title: Renamed'))?.digest).toBe(before?.digest);
    expect(digestOf(good.replace('/mcp\n', '/other\n'))?.digest).not.toBe(before?.digest);
    expect(digestOf(good.replace('DEPLOYS_TOKEN', 'OTHER'))?.digest).not.toBe(before?.digest);
    const narrower = digestOf(good.replace('maxRounds: 3', 'maxRounds: 2'));
    expect(narrower?.digest).toBe(before?.digest);
    expect(narrower?.policyDigest).not.toBe(before?.policyDigest);
  });

  it('lets the policy carry a version of the operator’s own, and a list of tools be asked for anew every time', () => {
    const policy = parse(good.replace('maxRounds: 3', 'version: "7"\n      toolCacheMaxAge: PT0S')).get('deploys')?.policy;
    expect(policy).toMatchObject({ version: '7', toolCacheMaxAgeMs: 0 });
    expect(parse(good).get('deploys')?.policy).not.toHaveProperty('version');
  });

  it('reads who may use a server, which is no part of what a call is bound to', () => {
    const access = { tenants: ['acme', 'globex'], subjects: ['user-1'], requesters: ['agent@acme'] };
    const entry = parse(one(`    access: ${JSON.stringify(access)}\n    transport: streamable-http`)).get('deploys');
    expect(entry?.access).toEqual(access);
    expect(entry?.digest).toBe(parse(good).get('deploys')?.digest);
    const stdio = 'servers: [{ id: notes, title: Notes, transport: stdio, command: node }]';
    const digestOf = (text: string) => parse(text).get('notes')?.digest;
    expect(digestOf(stdio.replace('title', 'access: { tenants: [t1] }, title'))).toBe(digestOf(stdio));
  });

  it('shows a tenant the servers that are open to it', () => {
    const registry = parse(one('    access: { tenants: [acme] }\n    transport: streamable-http'));
    expect(registry.allFor('acme')).toEqual(registry.all());
    expect(registry.getFor('acme', 'deploys')).toBe(registry.get('deploys'));
    expect(registry.allFor('globex')).toEqual([]);
    expect(registry.getFor('globex', 'deploys')).toBeUndefined();
  });

  it.each([
    ['a version that is empty', 'version: ""', 'policy.version: expected a text of 1 to 64 characters'],
    ['a version that is a number', 'version: 7', 'policy.version: expected a text of 1 to 64 characters'],
    ['a version that is too long', `version: ${'x'.repeat(65)}`, 'policy.version: expected a text of 1 to 64 characters'],
    [
      'tools that are too old',
      'toolCacheMaxAge: PT61S',
      'policy.toolCacheMaxAge: expected an ISO 8601 duration such as PT30S, at most 60 seconds',
    ],
  ])('refuses %s', (_what, line, complaint) =>
    expect(complaintsOf(good.replace('maxRounds: 3', line))).toEqual([`${file}:11: servers[0].${complaint}`]),
  );

  it.each([
    ['nobody', 'tenants: []', 'access.tenants'],
    ['what can be no id', 'subjects: ["a b"]', 'access.subjects[0]'],
    ['numbers', 'requesters: [7]', 'access.requesters[0]'],
    ['one instead of a list', 'tenants: acme', 'access.tenants'],
  ])('refuses a list of %s', (_what, list, path) =>
    expect(complaintsOf(one(`    access: { ${list} }\n    transport: streamable-http`))).toEqual([
      `${file}:5: servers[0].${path}: expected a list of 1 to 1000 ids, as they stand in tokens`,
    ]),
  );

  it('binds a call to the protocol where one is named, and leaves what it was bound to before as it is', () => {
    const digestOf = (text: string) => parse(text).get('deploys')?.digest;
    expect(digestOf(one("    transport: streamable-http\n    protocol: '2026-07-28'"))).toBe(digestOf(good));
    expect(digestOf(one("    transport: streamable-http\n    protocol: '2025-11-25'"))).not.toBe(digestOf(good));
    // Calls that were started by earlier builds are bound to this.
    const bound = {
      id: 'deploys',
      transport: 'streamable-http',
      url: 'https://mcp.example.com/mcp',
      credential: { env: 'DEPLOYS_TOKEN' },
    };
    expect(digestOf(good)).toBe(digestOfValue(bound));
  });

  it('refuses a protocol that is not spoken, or not over that transport', () => {
    expect(complaintsOf(one("    transport: streamable-http\n    protocol: '2024-11-05'"))).toEqual([
      `${file}:6: servers[0].protocol: expected '2026-07-28' or '2025-11-25'`,
    ]);
    const program = "servers:\n  - { id: a, title: A, transport: stdio, command: a, protocol: '2025-11-25' }\n";
    expect(complaintsOf(program)).toEqual([
      `${file}:2: servers[0].protocol: expected '2026-07-28', which alone is spoken over stdio`,
    ]);
  });

  it('says line, path and expected form of every fault at once', () => {
    const text = good.replace('P1D', 'P1M').replace('maxRounds: 3', 'maxRounds: many').replace('maxFields', 'maxFeelds');
    expect(complaintsOf(text)).toEqual([
      `${file}:9: servers[0].policy.roundDeadline: expected an ISO 8601 duration such as P3D`,
      `${file}:11: servers[0].policy.maxRounds: expected a whole number from 0 to 100`,
      `${file}:12: servers[0].policy.gate.maxFeelds: is not known here`,
    ]);
  });

  it.each([
    ['a list is missing', 'server: []', ':1: servers: expected a list of servers'],
    ['the file is empty', '', ':1: expected "servers:" and a list under it'],
    ['YAML is broken', 'servers:\n  - id: "deploys', ':2: not valid YAML (MISSING_CHAR)'],
    ['a key is repeated', 'servers: []\nservers: []', ':2: not valid YAML (DUPLICATE_KEY)'],
  ])('refuses a file in which %s', (_what, text, complaint) => expect(complaintsOf(text)).toContain(`${file}${complaint}`));

  it('names the missing member at its server', () => {
    expect(complaintsOf(good.replace('    title: Deployments\n', ''))).toEqual([
      `${file}:3: servers[0].title: expected a name to show to people`,
    ]);
  });

  it.each([
    ['http to another machine', 'http://mcp.example.com/mcp', 'expected https (http only to localhost)'],
    ['another scheme', 'ftp://mcp.example.com/mcp', 'expected https (http only to localhost)'],
    ['a password', 'https://user:hunter2@mcp.example.com/mcp', 'expected no user or password in the URL; use credential'],
    ['a fragment', 'https://mcp.example.com/mcp#x', 'expected a URL without fragment'],
  ])('refuses %s in a URL without printing it', (_what, url, message) => {
    const complaints = complaintsOf(good.replace('https://mcp.example.com/mcp', url));
    expect(complaints).toEqual([`${file}:6: servers[0].url: ${message}`]);
  });

  it.each(['http://localhost:7400/mcp', 'http://127.0.0.1:7400/mcp', 'http://[::1]:7400/mcp'])('allows %s', (url) =>
    expect(parse(good.replace('https://mcp.example.com/mcp', url)).get('deploys')).toMatchObject({ url }),
  );

  it('refuses a secret in place of its reference, and does not print it', () => {
    const complaints = complaintsOf(good.replace('{ env: DEPLOYS_TOKEN }', 'sk-hunter2'));
    expect(complaints).toEqual([
      `${file}:7: servers[0].credential: expected {env: NAME} or {file: path}, a reference and never the secret itself`,
    ]);
  });

  it('refuses sizes that one Temporal payload could not hold together', () => {
    const sizes = '2 * maxArgumentsBytes + maxAnswerBytes + gate.maxStateBytes + gate.maxRoundBytes';
    expect(complaintsOf(good.replace('maxRounds: 3', 'maxArgumentsBytes: 1048576'))).toEqual([
      `${file}:8: servers[0].policy: expected ${sizes} to be at most 1474560`,
    ]);
    const balanced = 'maxArgumentsBytes: 500000\n      maxAnswerBytes: 10000';
    expect(() => parse(good.replace('maxRounds: 3', balanced).replace('maxFields: 5', 'maxStateBytes: 100000'))).not.toThrow();
  });

  it('refuses a second server of the same id', () => {
    const twice = good + good.replace('\nservers:\n', '');
    expect(complaintsOf(twice)).toEqual([`${file}:13: servers[1].id: is the id of servers[0] already`]);
  });

  it('refuses a transport it does not speak', () => {
    expect(complaintsOf(one('    transport: sse'))).toEqual([
      `${file}:5: servers[0].transport: expected streamable-http or stdio`,
    ]);
  });

  it('says that a file cannot be read', async () => {
    await expect(Registry.read('/does/not/exist.yaml')).rejects.toThrow('the file cannot be read (ENOENT)');
  });

  it('is what the repository itself brings', async () => {
    expect((await Registry.read('parley.servers.yaml')).all().length).toBeGreaterThan(0);
  });
});

describe('bearerOf', () => {
  afterEach(() => delete process.env['SPEC_BEARER']);
  const entry = { id: 'deploys', credential: { env: 'SPEC_BEARER' } };

  it('reads the variable at the time of use', async () => {
    process.env['SPEC_BEARER'] = 'first';
    expect(await bearerOf(entry)).toBe('first');
    process.env['SPEC_BEARER'] = 'second\n';
    expect(await bearerOf(entry)).toBe('second');
  });

  it('is undefined for a server without credential', async () => expect(await bearerOf({ id: 'open' })).toBeUndefined());

  it('refuses to go on without a credential that was promised (credential_missing)', async () => {
    await expect(bearerOf(entry)).rejects.toThrow(CredentialFault);
    await expect(bearerOf({ id: 'x', credential: { file: '/does/not/exist' } })).rejects.toThrow(CredentialFault);
  });
});
