/** Reading and cancelling calls. A call is shown to the person it runs for and to the one who started it, and to nobody else. */

import { Injectable } from '@nestjs/common';
import { isInvocationId } from '../../domain/ids.js';
import { Audit } from '../audit/audit.js';
import type { Actor } from '../auth/actor.js';
import { pageFrom, wishOf } from '../http/page.js';
import { bodyDigestOf, RepeatableReplies } from '../http/repeatable-replies.js';
import type { IdempotencyScope } from '../idempotency/idempotency.js';
import { Problem } from '../problems/problem.js';
import { Repairs } from '../reconcile/repairs.js';
import { isTemporalOutage } from '../reconcile/workflows.js';
import { type InvocationRecord, Records } from '../records/records.js';
import { CallWorkflows } from './call-workflows.js';
import { InvocationView, summaryOf } from './invocation-view.js';
import type { InvocationBody, InvocationPage, ListQuery } from './invocations.contract.js';

@Injectable()
export class InvocationsService {
  constructor(
    private readonly records: Records,
    private readonly view: InvocationView,
    private readonly workflows: CallWorkflows,
    private readonly replies: RepeatableReplies,
    private readonly audit: Audit,
    private readonly repairs: Repairs,
  ) {}

  async list(actor: Actor, query: ListQuery): Promise<InvocationPage> {
    const { status } = query;
    const wish = { ...wishOf(query), ...(status !== undefined && { status }) };
    const { items, next } = await pageFrom(this.records.list(actor.tenant, actor.subject, wish));
    return { items: items.map(summaryOf), next };
  }

  /** @throws {Problem} `invocation_unknown` */
  async get(actor: Actor, id: string): Promise<InvocationBody> {
    return this.view.body(await this.visible(actor, id));
  }

  /** @throws {Problem} `invocation_unknown`, `result_absent` */
  async result(actor: Actor, id: string): Promise<unknown> {
    const result = await this.view.result(await this.visible(actor, id));
    if (result === null) throw new Problem('result_absent');
    return result;
  }

  /**
   * Asks the workflow to end; a leg on the wire is left to finish first, so the reply may still show an open call.
   *
   * @throws {Problem} `invocation_unknown`, `temporal_unavailable`
   */
  async cancel(actor: Actor, id: string, key: string): Promise<InvocationBody> {
    const { tenant, subject } = actor;
    const record = await this.actable(actor, id);
    const scope: IdempotencyScope = { tenant, actor: subject, route: `invocations.cancel ${id}`, key };
    return this.replies.once(scope, bodyDigestOf({ id }), { invocation: record.id }, async () => {
      if (record.outcome === null) await this.end(record, subject);
      return this.withoutContent(record);
    });
  }

  /**
   * Tells a call that waits for something (its `reason` says what) that somebody has acted on it: the leg is tried again.
   *
   * @throws {Problem} `invocation_unknown`, `invocation_not_waiting`, `temporal_unavailable`
   */
  async resume(actor: Actor, id: string, key: string): Promise<InvocationBody> {
    const { tenant, subject } = actor;
    const record = await this.actable(actor, id);
    const scope: IdempotencyScope = { tenant, actor: subject, route: `invocations.resume ${id}`, key };
    return this.replies.once(scope, bodyDigestOf({ id }), { invocation: record.id }, async () => {
      if (record.outcome !== null || record.reason === null) throw new Problem('invocation_not_waiting');
      await this.audit.append(tenant, { type: 'call_resumed', invocation: record.id, actor: subject, reason: record.reason });
      await this.workflows.resume(tenant, record.id);
      return this.withoutContent(record);
    });
  }

  /** What an act answers with. An operator may act on a call and not read it. */
  private async withoutContent({ tenant, id, ...before }: InvocationRecord): Promise<InvocationBody> {
    const record = (await this.records.get(tenant, id)) ?? { tenant, id, ...before };
    return { ...summaryOf(record), result: null, problem: null };
  }

  /** Whoever may see the call, and the tenant's operators. */
  private async actable(actor: Actor, id: string): Promise<InvocationRecord> {
    if (!actor.scopes.has('calls:operate')) return this.visible(actor, id);
    const record = isInvocationId(id) ? await this.records.get(actor.tenant, id) : null;
    if (record === null) throw new Problem('invocation_unknown');
    return record;
  }

  private async end(record: InvocationRecord, by: string): Promise<void> {
    const { tenant, id } = record;
    if ((await this.workflows.cancel(tenant, id, { by })) === 'sent') return;
    await this.repairs.cancel(record, by).catch((error: unknown) => {
      throw isTemporalOutage(error) ? new Problem('temporal_unavailable', { retryAfterSeconds: 2 }) : error;
    });
    // A start that was under way meanwhile may have come first.
    await this.workflows.cancel(tenant, id, { by });
  }

  private async visible(actor: Actor, id: string): Promise<InvocationRecord> {
    const record = isInvocationId(id) ? await this.records.get(actor.tenant, id) : null;
    const isVisible = record !== null && (record.subject === actor.subject || record.requester === actor.subject);
    if (!isVisible) throw new Problem('invocation_unknown');
    return record;
  }
}
