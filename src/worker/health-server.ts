/** `/health/live` and `/health/ready` of a worker: all the HTTP it speaks. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** @returns the server and its URL; port 0 takes any free one */
export async function serveHealth(host: string, port: number, isReady: () => boolean): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://worker');
    const status = pathname === '/health/live' ? 200 : pathname !== '/health/ready' ? 404 : isReady() ? 200 : 503;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: status === 200 ? 'ok' : 'unavailable' }));
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, host, listening);
  });
  const { port: actual } = server.address() as AddressInfo;
  return { server, url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}` };
}
