/**
 * The one reader of the environment. Everything else takes a {@link Config}. An error names the variable and the expected form, all
 * errors at once, and never prints a value: it may be a secret in the wrong place. The variables are listed in docs/configuration.md.
 */

import { Reader, type Environment } from './reader.js';
import { Secret } from './secret.js';
import { readTemporalAccess, type TemporalAccess } from './temporal-tls.js';

export type ProcessName = 'api' | 'worker';

/** Where bearer tokens come from. */
export interface AuthConfig {
  readonly jwks: { readonly url: string } | { readonly file: string };
  readonly issuer: string;
  readonly audience: string;
}

/** Everything a process is told from outside. A class, so that it is its own injection token. */
export class Config {
  readonly process!: ProcessName;
  readonly development!: boolean;
  readonly http!: { readonly host: string; readonly port: number };
  readonly temporal!: {
    readonly address: string;
    readonly namespace: string;
    /** Workflows and the small repeatable activities. */
    readonly callsQueue: string;
    /** `sendLeg` alone. */
    readonly legsQueue: string;
  } & TemporalAccess;
  readonly redis!: {
    readonly url: Secret;
    readonly prefix: string;
    /** How many replicas must hold a leg's row before the leg is sent. */
    readonly replicas: number;
    readonly replicaTimeoutMs: number;
  };
  /** Path of parley.servers.yaml. */
  readonly serversFile!: string;
  readonly codecKeys!: Secret;
  readonly sealKeys!: Secret;
  /** Private Ed25519 JWK, JSON. */
  readonly receiptKey!: Secret;
  /** In the API only: a worker meets no tokens. */
  readonly auth?: AuthConfig;
  readonly logLevel!: LogLevel;
  /** How many requests to MCP servers over HTTP one worker has under way at once. */
  readonly maxLegs!: number;
  /** How long a parked call may hear nothing of the worker that holds its live connection, before the connection counts as lost. */
  readonly connectionLeaseMs!: number;
  /** How long closed invocations stay readable. */
  readonly retentionMs!: number;
  /** How long audit entries and receipts are kept. */
  readonly auditRetentionMs!: number;
  readonly reconcile!: {
    /** Between two runs; 0: no worker runs it by itself. */
    readonly intervalMs: number;
    /** How long something may look wrong before it is taken for wrong. */
    readonly graceMs: number;
  };
  /** Between "not ready" and closing the listener, for a load balancer to notice. */
  readonly stopDelayMs!: number;
  /** Whether `/docs` and `/openapi.json` need no token. */
  readonly openDocs!: boolean;
  /** Origin of the Temporal UI that may call /codec from a browser. */
  readonly uiOrigin?: string;

  private constructor(fields: Fields) {
    Object.assign(this, fields);
  }

  /** @throws {ConfigFault} naming every variable that is missing or malformed */
  static read(name: ProcessName, environment: Environment = process.env): Config {
    const reader = new Reader(environment);
    const fields = readAll(name, reader);
    if (reader.complaints.length > 0) throw new ConfigFault(reader.complaints);
    return new Config(fields);
  }
}

type Fields = { -readonly [K in keyof Config]: Config[K] };

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export class ConfigFault extends Error {
  override readonly name = 'ConfigFault';

  constructor(readonly complaints: readonly string[]) {
    super(`the configuration cannot be used; see docs/configuration.md\n${complaints.map((line) => `  ${line}`).join('\n')}`);
  }
}

/** One variable, read at the time of use: the bearer of a server (src/servers/credentials.ts). */
export function environmentVariable(name: string): string | undefined {
  return process.env[name];
}

/** Below the time after which a command of the store is given up. */
const maxReplicaTimeoutMs = 4_000;

function readAll(process: ProcessName, reader: Reader): Fields {
  const queue = reader.text('PARLEY_TASK_QUEUE', 'parley');
  const uiOrigin = reader.origin('PARLEY_UI_ORIGIN');
  const auth = process === 'api' ? readAuth(reader) : undefined;
  const retentionMs = reader.durationMs('PARLEY_RETENTION', 'P30D');
  const auditRetentionMs = reader.durationMs('PARLEY_AUDIT_RETENTION', 'P400D');
  if (auditRetentionMs < Math.max(retentionMs, 1))
    reader.complain('PARLEY_AUDIT_RETENTION', 'expected at least PARLEY_RETENTION');
  const development = reader.oneOf('PARLEY_ENV', ['production', 'development'], 'production') === 'development';
  return {
    process,
    development,
    http: {
      host: reader.text('PARLEY_HTTP_HOST', '127.0.0.1'),
      port: process === 'api' ? reader.port('PARLEY_HTTP_PORT', 8080) : reader.port('PARLEY_WORKER_HTTP_PORT', 8081),
    },
    temporal: {
      address: reader.text('TEMPORAL_ADDRESS', '127.0.0.1:7233'),
      namespace: reader.text('TEMPORAL_NAMESPACE', 'default'),
      callsQueue: `${queue}-calls`,
      legsQueue: `${queue}-legs`,
      ...readTemporalAccess(reader),
    },
    redis: {
      url: new Secret(reader.url('REDIS_URL', ['redis:', 'rediss:'], 'redis://127.0.0.1:6379') ?? ''),
      prefix: reader.text('PARLEY_REDIS_PREFIX', 'parley'),
      replicas: reader.count('PARLEY_REDIS_REPLICAS', 0, 0, 999),
      replicaTimeoutMs: reader.durationMs('PARLEY_REDIS_REPLICA_TIMEOUT', 'PT1S', maxReplicaTimeoutMs),
    },
    serversFile: reader.text('PARLEY_SERVERS', 'parley.servers.yaml'),
    codecKeys: reader.secret('PARLEY_CODEC_KEYS', keyRingForm),
    sealKeys: reader.secret('PARLEY_SEAL_KEYS', keyRingForm),
    receiptKey: reader.secret('PARLEY_RECEIPT_KEY', 'a private Ed25519 JWK as JSON, with a "kid"'),
    ...(auth === undefined ? {} : { auth }),
    logLevel: reader.oneOf('PARLEY_LOG_LEVEL', logLevels, 'info'),
    maxLegs: reader.count('PARLEY_MAX_LEGS', 100, 1, 1_000),
    connectionLeaseMs: reader.durationMs('PARLEY_CONNECTION_LEASE', 'PT30S', Infinity, 1_000),
    retentionMs,
    auditRetentionMs,
    reconcile: {
      intervalMs: reader.durationMs('PARLEY_RECONCILE_INTERVAL', 'PT5M'),
      graceMs: reader.durationMs('PARLEY_RECONCILE_GRACE', 'PT2M'),
    },
    stopDelayMs: reader.durationMs('PARLEY_STOP_DELAY', 'PT0S'),
    openDocs: reader.oneOf('PARLEY_OPEN_DOCS', ['true', 'false'], development ? 'true' : 'false') === 'true',
    ...(uiOrigin === undefined ? {} : { uiOrigin }),
  };
}

const keyRingForm = '"kid:base64 of 32 bytes", more of them after commas, the current one first';

function readAuth(reader: Reader): AuthConfig {
  const url = reader.url('PARLEY_JWKS_URL', ['https:', 'http:']);
  const file = reader.optional('PARLEY_JWKS_FILE');
  if ((url === undefined) === (file === undefined)) {
    reader.complain('PARLEY_JWKS_URL', 'set exactly one of it and PARLEY_JWKS_FILE');
  }
  return {
    jwks: url !== undefined ? { url } : { file: file ?? '' },
    issuer: reader.required('PARLEY_ISSUER', 'the issuer that tokens must name'),
    audience: reader.required('PARLEY_AUDIENCE', 'the audience that tokens must name'),
  };
}
