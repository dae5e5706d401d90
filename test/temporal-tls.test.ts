/** Temporal behind TLS: certificates of both sides are checked on a real handshake, and an API key is sent with every request. */

import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { connect, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Config } from '../src/config/config.js';
import { KeyRingCodec } from '../src/crypto/codec.js';
import { KeyRing } from '../src/crypto/key-ring.js';
import { Temporal } from '../src/temporal/temporal.js';
import { accept, asked, deployTo, outcome, start } from './harness/conversation.js';
import { codecKeysFile } from './histories/keys.js';
import { undoAfterEach } from './harness/undo.js';

const undo = undoAfterEach();
let dir: string;
const pem = (name: string): string => join(dir, name);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-tls-'));
  const authority = await certificate('ca', { extensions: ofAuthority });
  await certificate('strangers', { extensions: ofAuthority });
  for (const name of ['server', 'client']) await certificate(name, { extensions: [itsNames], ca: authority });
}, 60_000);
afterAll(() => rm(dir, { recursive: true, force: true }));

type Options = NonNullable<Parameters<typeof generate>[1]>;

const ofAuthority: NonNullable<Options['extensions']> = [
  { name: 'basicConstraints', cA: true, critical: true },
  { name: 'keyUsage', keyCertSign: true, critical: true },
];
const itsNames = {
  name: 'subjectAltName' as const,
  altNames: [
    { type: 2 as const, value: 'temporal.internal' },
    { type: 7 as const, ip: '127.0.0.1' },
  ],
};

/** A new key and its certificate, in the test's folder. */
async function certificate(name: string, options: Options): Promise<{ key: string; cert: string }> {
  const made = await generate([{ name: 'commonName', value: name }], { keyType: 'ec', algorithm: 'sha256', ...options });
  await writeFile(pem(`${name}.key`), made.private);
  await writeFile(pem(`${name}.pem`), made.cert);
  return { key: made.private, cert: made.cert };
}

async function listening(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  undo.push(async () => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serverPair(): Promise<{ cert: Buffer; key: Buffer }> {
  return { cert: await readFile(pem('server.pem')), key: await readFile(pem('server.key')) };
}

/** In front of the run's Temporal; it lets nobody in without a certificate of the test's authority. */
async function mutualTls(): Promise<string> {
  const [host = '', port = ''] = inject('temporalAddress').split(':');
  const ca = await readFile(pem('ca.pem'));
  const options = { ...(await serverPair()), ca, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] };
  const server = createServer(options, (near) => {
    const far = connect(Number(port), host);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  return listening(server);
}

const trusting = () => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: pem('ca.pem') });
const certified = () => ({
  ...trusting(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: pem('client.pem'),
  TEMPORAL_TLS_CLIENT_KEY_PATH: pem('client.key'),
});

/** The client of the API and the reconciler, as it is made of an environment. */
async function temporalOf(env: Record<string, string>): Promise<Temporal> {
  const keys = { PARLEY_CODEC_KEYS_FILE: codecKeysFile, PARLEY_SEAL_KEYS: 'unused', PARLEY_RECEIPT_KEY: 'unused' };
  const config = Config.read('worker', { ...keys, ...env });
  const codec = new KeyRingCodec(KeyRing.parse(config.codecKeys.reveal()));
  const temporal = new Temporal(config, codec);
  undo.push(() => temporal.onApplicationShutdown());
  return temporal;
}

describe('Temporal behind mutual TLS', () => {
  it('carries a call from its question to its end, through API and worker', async () => {
    const parley = await undo.parleyOf({ env: { TEMPORAL_ADDRESS: await mutualTls(), ...certified() } });
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'over TLS' } });
    await accept(parley, await asked(parley, id), deployTo('staging'));
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
  }, 90_000);

  it('is reached with the right certificates alone', async () => {
    const TEMPORAL_ADDRESS = await mutualTls();
    const isReached = async (env: Record<string, string>) => (await temporalOf({ TEMPORAL_ADDRESS, ...env })).isReachable();
    expect(await isReached(certified())).toBe(true);
    expect(await isReached({ ...certified(), TEMPORAL_TLS_SERVER_NAME: 'temporal.internal' })).toBe(true);
    expect(await isReached({ ...certified(), TEMPORAL_TLS_SERVER_NAME: 'elsewhere.internal' })).toBe(false);
    expect(await isReached({ ...certified(), TEMPORAL_TLS_SERVER_CA_CERT_PATH: pem('strangers.pem') })).toBe(false);
    expect(await isReached(trusting())).toBe(false);
    expect(await isReached({})).toBe(false);
  }, 60_000);
});

describe('an API key', () => {
  it('is sent with a request, over TLS', async () => {
    const seen: unknown[] = [];
    const server = createSecureServer(await serverPair());
    server.on('stream', (stream, headers) => {
      seen.push(headers.authorization);
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true });
    });
    const temporal = await temporalOf({
      TEMPORAL_ADDRESS: await listening(server),
      ...trusting(),
      TEMPORAL_API_KEY: 'canary-key',
    });
    expect(await temporal.isReachable()).toBe(false);
    expect(seen[0]).toBe('Bearer canary-key');
  });
});
