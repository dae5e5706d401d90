/** TLS and the API key of the connection to Temporal, under the names of Temporal's own environment configuration. */

import type { Reader } from './reader.js';
import type { Secret } from './secret.js';

export interface TemporalTls {
  /** PEM; absent: the system's own authorities. */
  readonly serverCa?: string;
  /** Who the server's certificate must be of, if not the host of the address. */
  readonly serverName?: string;
  readonly client?: { readonly cert: string; readonly key: Secret };
}

export interface TemporalAccess {
  /** Absent: plain gRPC. */
  readonly tls?: TemporalTls;
  readonly apiKey?: Secret;
}

export function readTemporalAccess(reader: Reader): TemporalAccess {
  const apiKey = reader.optionalSecret('TEMPORAL_API_KEY');
  const serverCa = reader.file('TEMPORAL_TLS_SERVER_CA_CERT_PATH');
  const cert = reader.file('TEMPORAL_TLS_CLIENT_CERT_PATH');
  const key = reader.secretFile('TEMPORAL_TLS_CLIENT_KEY_PATH');
  const serverName = reader.optional('TEMPORAL_TLS_SERVER_NAME');
  if ((cert === undefined) !== (key === undefined))
    reader.complain('TEMPORAL_TLS_CLIENT_CERT_PATH', 'set both it and TEMPORAL_TLS_CLIENT_KEY_PATH, or neither');

  const needsTls = [apiKey, serverCa, cert, key, serverName].some((each) => each !== undefined);
  const isTls = reader.oneOf('TEMPORAL_TLS', ['true', 'false'], needsTls ? 'true' : 'false') === 'true';
  if (needsTls && !isTls)
    reader.complain(
      'TEMPORAL_TLS',
      'expected true beside an API key or another TEMPORAL_TLS_ setting: nothing of it goes over plain gRPC',
    );
  if (!isTls) return {};
  const tls = {
    ...(serverCa !== undefined && { serverCa }),
    ...(serverName !== undefined && { serverName }),
    ...(cert !== undefined && key !== undefined && { client: { cert, key } }),
  };
  return { tls, ...(apiKey !== undefined && { apiKey }) };
}
