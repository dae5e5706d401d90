/** How Temporal is reached: the same for clients and workers. */

import type { TLSConfig } from '@temporalio/client';
import type { Config } from '../config/config.js';

interface ConnectionOptions {
  readonly address: string;
  readonly tls?: TLSConfig;
  readonly apiKey?: string;
}

export function connectionOptions({ address, tls, apiKey }: Config['temporal']): ConnectionOptions {
  return {
    address,
    ...(tls !== undefined && {
      tls: {
        ...(tls.serverName !== undefined && { serverNameOverride: tls.serverName }),
        ...(tls.serverCa !== undefined && { serverRootCACertificate: Buffer.from(tls.serverCa) }),
        ...(tls.client !== undefined && {
          clientCertPair: { crt: Buffer.from(tls.client.cert), key: Buffer.from(tls.client.key.reveal()) },
        }),
      },
    }),
    ...(apiKey !== undefined && { apiKey: apiKey.reveal() }),
  };
}
