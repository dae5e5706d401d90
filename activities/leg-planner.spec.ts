import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BoundCall } from '../domain/call.js';
import { digestOf } from '../domain/digest.js';
import type { InvocationId } from '../domain/ids.js';
import { defaultPolicy, type Policy } from '../domain/policy.js';
import { KeyRing } from '../src/crypto/key-ring.js';
import { Receipts } from '../src/crypto/receipts.js';
import { Sealer } from '../src/crypto/sealer.js';
import { Holds } from '../src/holds/holds.js';
import { Catalog } from '../src/mcp/catalog.js';
import { LiveConnections } from '../src/mcp/live-connections.js';
import { Registry } from '../src/servers/registry.js';
import { FaultServer } from '../test/harness/fault-server.js';
import { freshStore, type FreshStore } from '../test/harness/fresh-store.js';
import { scriptedServer, type ScriptedServer, tool } from '../test/harness/scripted-server.js';
import type { LegInput } from './contract.js';
import { LegPlanner, scope, type Plan } from './leg-planner.js';

const sealer = new Sealer(KeyRing.parse(`k1:${randomBytes(32).toString('base64')}`));
let store: FreshStore;
beforeAll(async () => {
  store = await freshStore();
});
afterAll(() => store.close());

interface Planning {
  readonly plan: (input: LegInput) => Promise<Plan>;
  readonly registry: Registry;
}

async function plannerOf(servers: object, catalog: Catalog): Promise<Planning> {
  const registry = Registry.parse(JSON.stringify({ servers }), 'servers');
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const receipts = await Receipts.fromJwk(JSON.stringify({ ...(await exportJWK(privateKey)), kid: 'r1' }));
  const log = { info: () => undefined };
  const connections = new LiveConnections({ queue: 'q', leaseMs: 1_000, maxParked: 1, onDescribed: () => undefined, log });
  const planner = new LegPlanner(registry, catalog, sealer, receipts, new Holds(store.redis, store.keys));
  const plan = (input: LegInput) => planner.plan(input, connections.forLeg(input.call));
  return { plan, registry };
}

function callOf(registry: Registry): BoundCall {
  const params = { name: 'deploy', arguments: { environment: 'staging' } };
  const ids = { tenant: 't1', invocation: 'inv_1' as InvocationId };
  return {
    ...ids,
    subject: 'user-1',
    requester: 'agent-1',
    server: 'deploys',
    serverDigest: registry.get('deploys')?.digest ?? '',
    method: 'tools/call',
    name: 'deploy',
    params: sealer.seal(params, scope(ids, 'params')),
    paramsDigest: digestOf(params),
    capabilities: {},
    policy: defaultPolicy,
    policyDigest: digestOf(defaultPolicy),
    ledgerEpoch: 'e1',
    startedAt: 0,
  };
}

/** A call whose stored parts were changed by whoever can write to the store or the history, and can seal. */
describe('a leg of a call that was altered between legs', () => {
  const server = new FaultServer();
  const catalog = new Catalog();
  let planner: Planning;
  let call: BoundCall;

  beforeAll(async () => {
    const url = await server.start((res) => res.writeHead(500).end());
    const access = { subjects: ['user-1', 'user-2'] };
    const deploys = { id: 'deploys', title: 'Deployments', transport: 'streamable-http', url, access };
    planner = await plannerOf([deploys], catalog);
    call = callOf(planner.registry);
  });
  afterAll(async () => {
    await catalog.close();
    server.stop();
  });

  const plan = (change: Partial<BoundCall>) => planner.plan({ call: { ...call, ...change }, leg: 2, try: 1 });
  const lost = (part: string) => ({ is: 'not_sendable', outcome: { is: 'binding_lost', part } });

  it('is not sent with other arguments (params_changed), and the server is not even asked for its tools', async () => {
    const params = { name: 'deploy', arguments: { environment: 'production' } };
    expect(await plan({ params: sealer.seal(params, scope(call, 'params')) })).toEqual(lost('params_changed'));
    expect(server.received).toEqual([]);
  });

  it('is not sent to another server (server_changed)', async () => {
    expect(await plan({ server: 'elsewhere' })).toEqual(lost('server_changed'));
    expect(await plan({ serverDigest: digestOf('another URL') })).toEqual(lost('server_changed'));
    expect(server.received).toEqual([]);
  });

  it('is not sent under another version of the policy, nor for or by somebody who may not use the server', async () => {
    expect(await plan({ policy: { ...defaultPolicy, version: '1' } })).toEqual(lost('policy_changed'));
    expect(await plan({ subject: 'user-3' })).toEqual(lost('principal_not_allowed'));
    expect(server.received).toEqual([]);
  });

  it('cannot be built of what another call has sealed', async () => {
    const foreign = sealer.seal({ name: 'deploy' }, scope({ ...call, tenant: 't2' }, 'params'));
    await expect(plan({ params: foreign })).rejects.toThrow(expect.objectContaining({ name: 'SealFault' }));
  });
});

describe('the list of tools that a first leg relies on', () => {
  const catalog = new Catalog();
  let server: ScriptedServer;
  let planner: Planning;
  let call: BoundCall;
  let secret: string;
  let lists = 0;

  beforeAll(async () => {
    secret = join(await mkdtemp(join(tmpdir(), 'parley-planner-')), 'token');
    await writeFile(secret, 'first');
    server = await scriptedServer(
      () => {
        lists += 1;
        return [tool('deploy')];
      },
      () => undefined,
    );
    const { url } = server;
    const deploys = { id: 'deploys', title: 'D', transport: 'streamable-http', url, credential: { file: secret } };
    planner = await plannerOf([deploys], catalog);
    call = callOf(planner.registry);
  });
  afterAll(async () => {
    await catalog.close();
    await server.close();
    await rm(join(secret, '..'), { recursive: true });
  });

  /** How often the server was asked for its tools. */
  async function asked(policy: Partial<Policy>): Promise<number> {
    const before = lists;
    expect(await planner.plan({ call: { ...call, policy: { ...defaultPolicy, ...policy } }, leg: 1, try: 1 })).toMatchObject({
      is: 'sendable',
    });
    return lists - before;
  }

  it('is as old as the policy that the call was started with allows; one from before that was said allows a minute', async () => {
    expect(await asked({})).toBe(1);
    expect(await asked({})).toBe(0);
    expect(await asked({ toolCacheMaxAgeMs: 0 })).toBe(1);
    expect(await asked({ toolCacheMaxAgeMs: 0 })).toBe(1);
    const { toolCacheMaxAgeMs: _, ...older } = defaultPolicy;
    expect(await planner.plan({ call: { ...call, policy: older }, leg: 1, try: 1 })).toMatchObject({ is: 'sendable' });
    expect(lists).toBe(3);
  });

  it('is never what was told to the bearer of another credential', async () => {
    expect(await asked({})).toBe(0);
    await writeFile(secret, 'second');
    expect(await asked({})).toBe(1);
    expect(await asked({})).toBe(0);
    // Nothing is kept of a credential that another has taken the place of.
    await writeFile(secret, 'first');
    expect(await asked({})).toBe(1);
  });
});
