/** An operator takes an open question back. Nobody has decided anything by that, so nothing is sent (promise 6): the call is cancelled. */

import { Injectable } from '@nestjs/common';
import { Audit } from '../audit/audit.js';
import type { Actor } from '../auth/actor.js';
import { bodyDigestOf, RepeatableReplies } from '../http/repeatable-replies.js';
import type { IdempotencyScope } from '../idempotency/idempotency.js';
import { CallWorkflows } from '../invocations/call-workflows.js';
import { Problem } from '../problems/problem.js';
import type { WithdrawnBody } from './consents.contract.js';
import { ConsentsService } from './consents.service.js';
import { closedCode } from './refusals.js';

@Injectable()
export class WithdrawingService {
  constructor(
    private readonly consents: ConsentsService,
    private readonly replies: RepeatableReplies,
    private readonly audit: Audit,
    private readonly workflows: CallWorkflows,
  ) {}

  /**
   * The workflow decides: an answer that was there first stands.
   *
   * @throws {Problem} `consent_unknown`, `consent_answered`, `consent_withdrawn`, `consent_expired`, `temporal_unavailable`
   */
  async withdraw(actor: Actor, id: string, key: string): Promise<WithdrawnBody> {
    const { tenant, subject } = actor;
    const consent = await this.consents.find(tenant, id);
    if (consent === null) throw new Problem('consent_unknown');
    const reply: WithdrawnBody = { consent: consent.id, invocation: consent.invocation };
    const scope: IdempotencyScope = { tenant, actor: subject, route: `consents.withdraw ${id}`, key };
    const { invocation } = consent;
    return this.replies.once(scope, bodyDigestOf({ id }), reply, async () => {
      const closedAs = closedCode(consent);
      if (closedAs !== undefined) throw new Problem(closedAs);
      await this.audit.append(tenant, { type: 'withdrawal_requested', invocation, consent: consent.id, actor: subject });
      const delivery = await this.workflows.cancel(tenant, invocation, { by: subject, consent: consent.id });
      if (delivery === 'gone') throw new Problem('consent_withdrawn');
      return reply;
    });
  }
}
