/**
 * Lets the development Temporal UI show payloads. The UI sends no token over plain http, and the API opens no payload without one: this
 * relay adds the development operator's token, for pages of that UI alone. Production has a UI with a sign-in, over https, and no relay.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { DevSecrets } from './dev-secrets.js';
import { devToken } from './dev-token.js';
import { rest } from './rest.js';

export interface CodecRelay {
  stop(): Promise<void>;
}

/** What a codec server may be sent at most is the API's to say; this only bounds memory. */
const maxBodyBytes = 32 * 1024 * 1024;
const paths = new Set(['/codec/decode', '/codec/encode']);

export async function startCodecRelay(port: number, uiUrl: string, apiUrl: string, secrets: DevSecrets): Promise<CodecRelay> {
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.writeHead(502).end());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A page of another origin, in the same browser, must not have payloads opened; one without an origin is no page of the UI.
    if (request.headers.origin !== uiUrl || !paths.has(request.url ?? '')) return void response.writeHead(403).end();
    response.setHeader('access-control-allow-origin', uiUrl);
    response.setHeader('access-control-allow-headers', 'content-type, x-namespace');
    response.setHeader('access-control-allow-methods', 'POST');
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    const token = await devToken(secrets, { tenant: 'operators', sub: 'temporal-ui', scopes: ['codec:decode'], ttlSeconds: 60 });
    const reply = await rest(apiUrl, token, request.url!, { text: await bodyOf(request) });
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.text);
  }

  await new Promise<void>((listening, failed) => server.once('error', failed).listen(port, '127.0.0.1', listening));
  return {
    stop: () =>
      new Promise((stopped) => {
        server.close(() => stopped());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new Error('too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
