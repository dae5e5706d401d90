/** The floor's worker, a process of its own as Parley's is. Arguments: Temporal address, task queue, MCP URL. */

import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { resolve } from 'node:path';
import { bareActivities, connectClient } from './activities.js';

const [address = '', taskQueue = '', mcpUrl = ''] = process.argv.slice(2);

Runtime.install({ shutdownSignals: ['SIGTERM'] });
const connection = await NativeConnection.connect({ address });
const workflowBundle = await bundleWorkflowCode({ workflowsPath: resolve(import.meta.dirname, 'workflows.js') });
const client = await connectClient(mcpUrl);
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle,
  activities: bareActivities(client),
});
console.log(JSON.stringify({ event: 'ready', process: 'bare-worker', url: mcpUrl }));
await worker.run();
await client.close();
await connection.close();
