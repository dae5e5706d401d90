/**
 * Last step of the build: the workflows and what they import, as the one script that a worker loads into its sandbox. It stays where this file was
 * built, which takes the place of `dist` when all of it is there: a stack that runs meanwhile misses nothing.
 */

import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const beside = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const { code } = await bundleWorkflowCode({
  workflowsPath: beside('workflows/index.js'),
  // The worker's and the client's data converter use the same one (src/crypto/data-converter.ts).
  failureConverterPath: beside('src/crypto/failure-converter.js'),
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
await writeFile(beside('workflow-bundle.js'), `Error.stackTraceLimit = 0; ${code}`);
