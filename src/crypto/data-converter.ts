/** The one data converter of clients, workers and replays. */

import { join, resolve } from 'node:path';
import type { DataConverter, PayloadCodec } from '@temporalio/common';

/**
 * Where the compiled failure converter is. Temporal loads it with `require`, and the bundler needs the same path; from TypeScript
 * sources (tests) that is the file of the last build.
 */
export const failureConverterPath = import.meta.filename.endsWith('.ts')
  ? resolve(import.meta.dirname, '../../dist/src/crypto/failure-converter.js')
  : join(import.meta.dirname, 'failure-converter.js');

export function dataConverterFor(codec: PayloadCodec): DataConverter {
  return { payloadCodecs: [codec], failureConverterPath };
}
