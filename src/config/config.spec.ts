import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Config, ConfigFault } from './config.js';

const sound = {
  PARLEY_CODEC_KEYS: 'c1:hunter2',
  PARLEY_SEAL_KEYS: 's1:hunter2',
  PARLEY_RECEIPT_KEY: '{"d":"hunter2"}',
  PARLEY_JWKS_URL: 'https://issuer.example/jwks',
  PARLEY_ISSUER: 'https://issuer.example',
  PARLEY_AUDIENCE: 'parley',
};
const complaintsOf = (environment: Record<string, string>) => {
  try {
    Config.read('api', environment);
  } catch (error) {
    if (error instanceof ConfigFault) return error;
    throw error;
  }
  throw new Error('was accepted');
};

describe('Config', () => {
  it('is production unless it is told otherwise', () => expect(Config.read('api', sound).development).toBe(false));

  it('opens the description of the API in development alone, unless it is told otherwise', () => {
    const isOpen = (env: Record<string, string>) => Config.read('api', { ...sound, ...env }).openDocs;
    expect([isOpen({}), isOpen({ PARLEY_ENV: 'development' })]).toEqual([false, true]);
    expect(isOpen({ PARLEY_OPEN_DOCS: 'true' })).toBe(true);
  });

  it('derives both queues from one name', () => {
    expect(Config.read('api', { ...sound, PARLEY_TASK_QUEUE: 'q' }).temporal).toMatchObject({
      callsQueue: 'q-calls',
      legsQueue: 'q-legs',
    });
  });

  it('gives each process its own port', () => {
    const environment = { ...sound, PARLEY_HTTP_PORT: '1', PARLEY_WORKER_HTTP_PORT: '2' };
    expect(Config.read('api', environment).http.port).toBe(1);
    expect(Config.read('worker', environment).http.port).toBe(2);
  });

  it('asks a worker for no issuer', () => {
    const { PARLEY_ISSUER: _i, PARLEY_AUDIENCE: _a, PARLEY_JWKS_URL: _j, ...rest } = sound;
    expect(Config.read('worker', rest).auth).toBeUndefined();
  });

  it('names every missing variable at once', () => {
    const names = complaintsOf({}).complaints.map((line) => line.split(':')[0]);
    expect(names).toEqual([
      'PARLEY_JWKS_URL',
      'PARLEY_ISSUER',
      'PARLEY_AUDIENCE',
      'PARLEY_CODEC_KEYS',
      'PARLEY_SEAL_KEYS',
      'PARLEY_RECEIPT_KEY',
    ]);
  });

  it.each([
    ['PARLEY_ENV', 'expected one of production, development'],
    ['PARLEY_HTTP_PORT', 'expected a port, 0 to 65535 (0: any free one)'],
    ['PARLEY_LOG_LEVEL', 'expected one of trace, debug, info, warn, error, fatal, silent'],
    ['PARLEY_RETENTION', 'expected an ISO 8601 duration such as P30D'],
    ['PARLEY_REDIS_REPLICAS', 'expected a whole number from 0 to 999'],
    ['PARLEY_MAX_LEGS', 'expected a whole number from 1 to 1000'],
    ['PARLEY_CONNECTION_LEASE', 'expected an ISO 8601 duration such as PT30S, at least 1 s'],
    ['REDIS_URL', 'expected a URL that starts with redis:// or rediss://'],
    ['PARLEY_JWKS_FILE', 'PARLEY_JWKS_URL: set exactly one of it and PARLEY_JWKS_FILE'],
    ['PARLEY_SEAL_KEYS_FILE', 'PARLEY_SEAL_KEYS: set exactly one of it and PARLEY_SEAL_KEYS_FILE'],
    ['PARLEY_UI_ORIGIN', 'expected a URL that starts with https:// or http://'],
  ])('never prints the value of a malformed %s', (name, expected) => {
    const fault = complaintsOf({ ...sound, [name]: 'hunter2' });
    expect(fault.message).toContain(expected);
    expect(fault.message).toContain(name);
    expect(inspect(fault)).not.toContain('hunter2');
  });

  it.each([
    [{ TEMPORAL_API_KEY: 'hunter2', TEMPORAL_TLS: 'false' }, 'TEMPORAL_TLS: expected true beside an API key'],
    [{ TEMPORAL_TLS: 'hunter2' }, 'TEMPORAL_TLS: expected one of true, false'],
    [{ TEMPORAL_TLS_CLIENT_KEY_PATH: '/hunter2' }, 'TEMPORAL_TLS_CLIENT_KEY_PATH: the file cannot be read (ENOENT)'],
    [{ TEMPORAL_TLS_CLIENT_CERT_PATH: import.meta.filename }, 'TEMPORAL_TLS_CLIENT_CERT_PATH: set both it and'],
  ])('sends nothing of TLS or a key over plain gRPC, and prints none of it: %j', (env, expected) => {
    const fault = complaintsOf({ ...sound, ...(env as Record<string, string>) });
    expect(fault.message).toContain(expected);
    expect(inspect(fault)).not.toContain('hunter2');
  });

  it('speaks TLS to Temporal when it is told to, or has a key', () => {
    const temporalOf = (env: Record<string, string>) => Config.read('worker', { ...sound, ...env }).temporal;
    expect(temporalOf({}).tls).toBeUndefined();
    expect(temporalOf({ TEMPORAL_TLS: 'true' })).toMatchObject({ tls: {} });
    const withKey = temporalOf({ TEMPORAL_API_KEY: 'hunter2' });
    expect(withKey.tls).toEqual({});
    expect(inspect(withKey, { depth: 9 }) + JSON.stringify(withKey)).not.toContain('hunter2');
  });

  it.each(['0', '1001', '-1', '1.5'])('takes no %s for a number of legs', (number) => {
    expect(complaintsOf({ ...sound, PARLEY_MAX_LEGS: number }).complaints).toHaveLength(1);
  });

  it('keeps the audit record at least as long as the calls it tells of', () => {
    const fault = complaintsOf({ ...sound, PARLEY_RETENTION: 'P60D', PARLEY_AUDIT_RETENTION: 'P59D' });
    expect(fault.complaints).toEqual(['PARLEY_AUDIT_RETENTION: expected at least PARLEY_RETENTION']);
  });

  it('shows no secret however it is printed', () => {
    const config = Config.read('api', { ...sound, REDIS_URL: 'redis://:hunter2@localhost:6379' });
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config) + String(config.redis.url)).not.toContain('hunter2');
    expect(config.sealKeys.reveal()).toBe('s1:hunter2');
  });

  it('says that the file of a secret cannot be read', () => {
    const { PARLEY_SEAL_KEYS: _, ...rest } = sound;
    const fault = complaintsOf({ ...rest, PARLEY_SEAL_KEYS_FILE: '/does/not/exist' });
    expect(fault.message).toContain('PARLEY_SEAL_KEYS_FILE: the file cannot be read (ENOENT)');
  });
});
