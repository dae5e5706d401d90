/**
 * Failures travel with message and stack as payloads, so that the codec encrypts them; the wire shows "Encoded failure". Bundled into
 * the workflow sandbox: it imports nothing else.
 */

import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
