/** A person's inbox: the questions that are open, and what each of them shows (promises 3 and 5). */

import { Injectable } from '@nestjs/common';
import type { KeyedResponse } from '../../domain/answers.js';
import type { ConsentRecord, ConsentView } from '../../domain/consent.js';
import { displayedTexts } from '../../domain/display.js';
import { isConsentId } from '../../domain/ids.js';
import type { Actor } from '../auth/actor.js';
import { Sealer } from '../crypto/sealer.js';
import type { PageQuery } from '../http/page.contract.js';
import { pageFrom, wishOf } from '../http/page.js';
import { Problem } from '../problems/problem.js';
import { Records } from '../records/records.js';
import type { ConsentBody, ConsentPage } from './consents.contract.js';

@Injectable()
export class ConsentsService {
  constructor(
    private readonly records: Records,
    private readonly sealer: Sealer,
  ) {}

  /** The open ones, newest first. */
  async list(actor: Actor, query: PageQuery): Promise<ConsentPage> {
    const { items, next } = await pageFrom(this.records.openConsents(actor.tenant, actor.subject, wishOf(query)));
    return { items: items.map((record) => this.body(record)), next };
  }

  /**
   * An open or a closed one.
   *
   * @throws {Problem} `consent_unknown`, also for what somebody else is asked
   */
  async get(actor: Actor, id: string): Promise<ConsentBody> {
    const record = await this.find(actor.tenant, id);
    if (record === null || record.subject !== actor.subject) throw new Problem('consent_unknown');
    return this.body(record);
  }

  async find(tenant: string, id: string): Promise<ConsentRecord | null> {
    return isConsentId(id) ? this.records.consent(tenant, id) : null;
  }

  /** An answer to it is stored and not judged yet: should that stay so, the reconciler sees it. A hint, which may be lost. */
  async noteAnswer({ tenant, id }: ConsentRecord): Promise<void> {
    await this.records.noteAnswer(tenant, id, Date.now()).catch(() => undefined);
  }

  viewOf({ tenant, invocation, round, view }: ConsentRecord): ConsentView {
    return this.sealer.unseal<ConsentView>(view, { tenant, invocation, field: `view.${round}` });
  }

  private earlierOf({ tenant, invocation, earlier, status }: ConsentRecord): ConsentBody['earlier'] {
    if (earlier === undefined || status !== 'open') return null;
    const field = `answer.${earlier.consent}`;
    const given = this.sealer.unseal<readonly KeyedResponse[]>(earlier.responses, { tenant, invocation, field });
    return { consent: earlier.consent, responses: Object.fromEntries(given.map(({ key, response }) => [key, response])) };
  }

  private body(record: ConsentRecord): ConsentBody {
    const { id, invocation, status, round, viewDigest } = record;
    const { server, call, effect, inputs } = this.viewOf(record);
    // fromEntries defines members, so that a key `__proto__` is one like any other.
    const keyed = Object.fromEntries(inputs.map(({ key, ...input }) => [key, input]));
    return {
      id,
      invocation,
      status,
      round,
      server,
      call,
      effect,
      inputs: keyed,
      display: displayedTexts([call, keyed]),
      earlier: this.earlierOf(record),
      digest: viewDigest,
      openedAt: new Date(record.openedAt).toISOString(),
      deadline: new Date(record.deadlineAt).toISOString(),
    };
  }
}
