/**
 * A bound call becomes a workflow: shown first, then put on the record and started. Every step may be repeated under the same id, so a
 * request that died half way is carried on by its repetition.
 */

import { Injectable } from '@nestjs/common';
import type { BoundCall } from '../../domain/call.js';
import { aboutCall, Audit } from '../audit/audit.js';
import { firstRecordOf, type InvocationRecord } from '../records/record.js';
import { Records } from '../records/records.js';
import { CallWorkflows } from './call-workflows.js';

@Injectable()
export class Launching {
  constructor(
    private readonly records: Records,
    private readonly audit: Audit,
    private readonly workflows: CallWorkflows,
  ) {}

  /**
   * @throws {Problem} `temporal_unavailable`
   * @throws {AuditFault} the call may be started: the worker sends nothing that it cannot put on the record itself
   */
  async launch(call: BoundCall): Promise<InvocationRecord> {
    const first = firstRecordOf(call);
    const isNew = await this.records.create(first);
    const record = isNew ? first : ((await this.records.get(call.tenant, call.invocation)) ?? first);
    // It was found never started, or cancelled before it was, and somebody may have been told so.
    if (record.outcome !== null && record.sequence === 0) return record;
    // A record that the workflow has written to proves that it was started. It may be past Temporal's retention: never start it again.
    const isStarted = record.sequence > 0;
    await Promise.all([this.recordStart(call), isStarted ? undefined : this.workflows.start(call)]);
    return record;
  }

  private recordStart(call: BoundCall): Promise<string> {
    return this.audit.append(call.tenant, { ...aboutCall(call), type: 'invocation_started', actor: call.requester });
  }
}
