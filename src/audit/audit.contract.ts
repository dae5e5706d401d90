/** The audit record as auditors read it: ids, names, digests and codes. */

import { z } from 'zod';
import { PageQuery } from '../http/page.contract.js';
import { auditTypes, isAuditId } from './audit.js';

const text = z.string().exactOptional();
const number = z.int().exactOptional();

const AuditEntryBody = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    type: z.enum(auditTypes),
    invocation: text,
    leg: number,
    try: number,
    round: number,
    consent: text,
    input: number,
    server: text,
    method: text,
    name: text,
    actor: text,
    subject: text,
    outcome: text,
    reason: text,
    decision: text,
    code: text,
    paramsDigest: text,
    stateDigest: text,
    viewDigest: text,
    policyDigest: text,
    toolDigest: text,
    connection: text,
    receipt: text,
    wireId: text,
  })
  .meta({ id: 'AuditEntry' });

export const AuditPageBody = z
  .object({ items: z.array(AuditEntryBody).readonly(), next: z.string().nullable() })
  .meta({ id: 'AuditPage' });
export type AuditPageBody = z.infer<typeof AuditPageBody>;

export const AuditQuery = z.strictObject({
  after: z.string().refine(isAuditId, 'expected the `next` or an entry id of a page before').optional(),
  limit: PageQuery.shape.limit,
});
export type AuditQuery = z.infer<typeof AuditQuery>;
