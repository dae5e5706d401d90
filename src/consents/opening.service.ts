/**
 * A person says that they open a URL that a round asks them to (design §6, promise 5). It is put on the audit record and does nothing
 * else: whether the server may go on is decided by their answer alone, and Parley never fetches the URL.
 */

import { Injectable } from '@nestjs/common';
import { Audit } from '../audit/audit.js';
import type { Actor } from '../auth/actor.js';
import { bodyDigestOf, RepeatableReplies } from '../http/repeatable-replies.js';
import type { IdempotencyScope } from '../idempotency/idempotency.js';
import { Problem } from '../problems/problem.js';
import type { OpenedBody, OpenedWish } from './consents.contract.js';
import { ConsentsService } from './consents.service.js';
import { aboutConsent, closedCode } from './refusals.js';

type Chosen = { readonly invocation: string; readonly openedAt: string };

@Injectable()
export class OpeningService {
  constructor(
    private readonly consents: ConsentsService,
    private readonly replies: RepeatableReplies,
    private readonly audit: Audit,
  ) {}

  /**
   * Recorded once for each person and URL, however often it is said.
   *
   * @throws {Problem} `consent_unknown`, `consent_answered`, `consent_withdrawn`, `consent_expired`, `url_unknown`
   */
  async opened(actor: Actor, id: string, wish: OpenedWish): Promise<OpenedBody> {
    const bodyDigest = bodyDigestOf(wish);
    const consent = await this.consents.find(actor.tenant, id);
    if (consent === null || consent.subject !== actor.subject) throw new Problem('consent_unknown');
    const place = this.consents.viewOf(consent).inputs.findIndex(({ key, kind }) => key === wish.input && kind === 'url');
    if (place < 0) throw new Problem('url_unknown');

    const scope: IdempotencyScope = {
      tenant: actor.tenant,
      actor: actor.subject,
      route: `consents.opened ${id}`,
      key: wish.input,
    };
    const fresh: Chosen = { invocation: consent.invocation, openedAt: new Date().toISOString() };
    const attempt = await this.replies.begin<Chosen, OpenedBody>(scope, bodyDigest, fresh);
    if (attempt.reply !== undefined) return attempt.reply;
    const closedAs = closedCode(consent);
    if (closedAs !== undefined) throw new Problem(closedAs);

    // A first attempt that died before its reply was kept may be on record already; twice is better than never.
    await this.audit.append(actor.tenant, {
      type: 'url_opened',
      ...aboutConsent(consent),
      input: place + 1,
      actor: actor.subject,
    });
    const reply: OpenedBody = { consent: consent.id, input: wish.input, openedAt: attempt.chosen.openedAt };
    await this.replies.keep(scope, attempt.chosen, reply);
    return reply;
  }
}
