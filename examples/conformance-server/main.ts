/** Starts the server for the suite's own command: `node dist/examples/conformance-server/main.js --port 9001`. */

import { parseArgs } from 'node:util';
import { startConformanceServer } from './server.js';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const server = await startConformanceServer({ port: Number(values.port) });
console.log(JSON.stringify({ event: 'ready', url: server.url }));

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void server.close().then(() => process.exit(0)));
}
