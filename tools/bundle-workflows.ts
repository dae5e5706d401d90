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
await writeFile(join(root, 'dist', 'workflow-bundle.js'), code);
