import { randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BoundCall } from '../domain/call.js';
import { digestOf } from '../domain/digest.js';
import type { InvocationId } from '../domain/ids.js';
import { defaultPolicy } from '../domain/policy.js';
import { KeyRing } from '../src/crypto/key-ring.js';
import { Receipts } from '../src/crypto/receipts.js';
import { Sealer } from '../src/crypto/sealer.js';
import { Holds } from '../src/holds/holds.js';
import { Catalog } from '../src/mcp/catalog.js';
import { LiveConnections } from '../src/mcp/live-connections.js';
import { Registry } from '../src/servers/registry.js';
import { FaultServer } from '../test/harness/fault-server.js';
import { freshStore, type FreshStore } from '../test/harness/fresh-store.js';
import { LegPlanner, scope } from './leg-planner.js';

/** A call whose stored parts were changed by whoever can write to the store or the history, and can seal. */
describe('a leg of a call that was altered between legs', () => {
  const sealer = new Sealer(KeyRing.parse(`k1:${randomBytes(32).toString('base64')}`));
  const server = new FaultServer();
  const catalog = new Catalog();
  let store: FreshStore;
  let planner: LegPlanner;
  let call: BoundCall;

  beforeAll(async () => {
    store = await freshStore();
    const url = await server.start((res) => res.writeHead(500).end());
    const registry = Registry.parse(
      `servers:\n  - { id: deploys, title: Deploys, transport: streamable-http, url: "${url}" }\n`,
      'servers',
    );
    const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
    const receipts = await Receipts.fromJwk(JSON.stringify({ ...(await exportJWK(privateKey)), kid: 'r1' }));
    const log = { info: () => undefined };
    const connections = new LiveConnections({ queue: 'q', leaseMs: 1_000, maxParked: 1, onDescribed: () => undefined, log });
    planner = new LegPlanner(registry, catalog, sealer, receipts, new Holds(store.redis, store.keys), connections);
    const params = { name: 'deploy', arguments: { environment: 'staging' } };
    const ids = { tenant: 't1', invocation: 'inv_1' as InvocationId };
    call = {
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
  });
  afterAll(async () => {
    await catalog.close();
    store.close();
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

  it('cannot be built of what another call has sealed', async () => {
    const foreign = sealer.seal({ name: 'deploy' }, scope({ ...call, tenant: 't2' }, 'params'));
    await expect(plan({ params: foreign })).rejects.toThrow(expect.objectContaining({ name: 'SealFault' }));
  });
});
