/** Last step of the build: the workflows and what they import, as the one script that a worker loads into its sandbox. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { built, root } from './root.js';

const { code } = await bundleWorkflowCode({
  workflowsPath: built('workflows/index.js'),
  // The worker's and the client's data converter use the same one (src/crypto/data-converter.ts).
  failureConverterPath: built('src/crypto/failure-converter.js'),
  logger: {
    log: () => {},
    trace: () => {},
    debug: () => {},
    info: () => {},
    warn: (message) => console.warn(message),
    error: (message, meta) => console.error(message, meta ?? ''),
  },
});
// The SDK takes a stack for every promise of a workflow, which is a seventh of a worker's time; failures are encrypted, and Temporal's
// stack query is not offered. On the first line, so that the source map still fits.
await writeFile(join(root, 'dist', 'workflow-bundle.js'), `Error.stackTraceLimit = 0; ${code}`);
