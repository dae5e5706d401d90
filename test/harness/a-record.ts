/** An invocation's record as a spec needs one: a call that was just started, unless something else is said. */

import { randomUUID } from 'node:crypto';
import { invocationIdFrom } from '../../domain/ids.js';
import type { InvocationRecord } from '../../src/records/record.js';

export function aRecord(overrides: Partial<InvocationRecord> = {}): InvocationRecord {
  return {
    id: invocationIdFrom(randomUUID()),
    tenant: 't1',
    subject: 'user-1',
    requester: 'agent',
    server: 'deploys',
    method: 'tools/call',
    name: 'deploy',
    paramsDigest: 'sha256:0',
    status: 'sending',
    outcome: null,
    reason: null,
    leg: 1,
    round: 0,
    consent: null,
    deadlineAt: null,
    startedAt: 1_000,
    updatedAt: 1_000,
    sequence: 0,
    result: null,
    problem: null,
    ...overrides,
  };
}
