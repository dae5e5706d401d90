/**
 * A person's answer (promise 3, design §9): checked against what was shown, sealed, signed, signalled to the workflow, and judged there.
 * The workflow alone decides; what is refused here could not count there. Once signalled the answer is durable, worker or not.
 */

import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { checkAnswer, type KeyedResponse } from '../../domain/answers.js';
import type { ConsentRecord } from '../../domain/consent.js';
import type { InvocationId } from '../../domain/ids.js';
import { defaultPolicy } from '../../domain/policy.js';
import type { Actor } from '../auth/actor.js';
import { bodyDigestOf, RepeatableReplies } from '../http/repeatable-replies.js';
import type { IdempotencyScope } from '../idempotency/idempotency.js';
import { CallWorkflows } from '../invocations/call-workflows.js';
import type { Problem } from '../problems/problem.js';
import { AnswerSigner, type SignedAnswer } from './answer-signer.js';
import { BindingDoubts } from './binding-doubts.js';
import type { AnswerBody, AnsweredBody } from './consents.contract.js';
import { ConsentsService } from './consents.service.js';
import { closedCode, refusalProblem, Refusals } from './refusals.js';

type Chosen = { readonly invocation: InvocationId; readonly receipt: string; readonly decidedAt: string };

@Injectable()
export class AnsweringService {
  constructor(
    private readonly consents: ConsentsService,
    private readonly replies: RepeatableReplies,
    private readonly signer: AnswerSigner,
    private readonly workflows: CallWorkflows,
    private readonly refusals: Refusals,
    private readonly doubts: BindingDoubts,
  ) {}

  /**
   * @param key the caller's idempotency key
   * @throws {Problem} `consent_unknown`, `consent_answered`, `consent_withdrawn`, `consent_expired`, `answer_mismatch`, `answer_invalid`,
   * `binding_lost`
   */
  async answer(actor: Actor, id: string, key: string, body: AnswerBody): Promise<AnsweredBody> {
    const bodyDigest = bodyDigestOf(body);
    const consent = await this.askedOf(actor, id);
    const closedAs = closedCode(consent);
    // Checked before the key is used up, so that a corrected form may be sent under the same one.
    const responses = closedAs === undefined ? await this.check(actor, consent, body) : undefined;

    const scope: IdempotencyScope = { tenant: actor.tenant, actor: actor.subject, route: `consents.answer ${id}`, key };
    if (closedAs === undefined) await this.requireBinding(actor, consent, scope);
    const fresh: Chosen = {
      invocation: consent.invocation,
      receipt: `rct_${randomUUID().replaceAll('-', '')}`,
      decidedAt: new Date().toISOString(),
    };
    const attempt = await this.replies.begin<Chosen, AnsweredBody>(scope, bodyDigest, fresh);
    if (attempt.reply !== undefined) return attempt.reply;
    // A repeat may find the consent closed by its own first attempt; the workflow knows.
    if (closedAs !== undefined && attempt.isFirst) throw await this.refusals.refuse(actor, consent, closedAs);
    const given = responses ?? (await this.check(actor, consent, body));

    // The same key may have answered another round of the call: the workflow must not take this answer for that one.
    const answerId = `${consent.id}.${key}`;
    const signed = await this.signer.sign(actor, consent, answerId, given, attempt.chosen);
    const verdict = await this.deliver(actor, consent, signed, attempt.isFirst);
    const reply: AnsweredBody = {
      verdict,
      consent: consent.id,
      invocation: consent.invocation,
      answer: key,
      receipt: signed.receipt,
    };
    // A pending reply is not kept: repeating the request is how the caller learns the verdict.
    if (verdict === 'accepted') await this.replies.keep(scope, attempt.chosen, reply);
    return reply;
  }

  private async askedOf(actor: Actor, id: string): Promise<ConsentRecord> {
    const consent = await this.consents.find(actor.tenant, id);
    if (consent === null) throw await this.refusals.refuse(actor, id, 'consent_unknown');
    if (consent.subject !== actor.subject) throw await this.refusals.refuse(actor, consent, 'answer_foreign');
    return consent;
  }

  private async check(actor: Actor, consent: ConsentRecord, body: AnswerBody): Promise<readonly KeyedResponse[]> {
    if (body.digest !== consent.viewDigest) throw await this.refusals.refuse(actor, consent, 'answer_mismatch');
    const { maxAnswerBytes = defaultPolicy.maxAnswerBytes } = consent;
    const checked = checkAnswer(this.consents.viewOf(consent).inputs, body.responses, maxAnswerBytes);
    if (checked.is === 'valid') return checked.responses;
    throw await this.refusals.refuse(actor, consent, 'answer_invalid', { errors: checked.errors });
  }

  /** Under a key that was used before an answer may have been given already: the workflow knows, and the worker looks before its leg. */
  private async requireBinding(actor: Actor, consent: ConsentRecord, scope: IdempotencyScope): Promise<void> {
    const lost = this.doubts.lostPart(consent);
    if (lost === undefined || (await this.replies.isBegun(scope))) return;
    const refusal = await this.refusals.refuse(actor, consent, 'binding_lost', { lost });
    await this.doubts.tell(consent);
    throw refusal;
  }

  /** @throws {Problem} when the answer does not count */
  private async deliver(
    actor: Actor,
    consent: ConsentRecord,
    signed: SignedAnswer,
    isFirst: boolean,
  ): Promise<AnsweredBody['verdict']> {
    const { tenant, invocation } = consent;
    const [delivery] = await Promise.all([this.workflows.answer(invocation, signed.answer), this.signer.save(consent, signed)]);
    // A call that has ended knows only answers that were given before: a repeat may ask it for the verdict on the first attempt.
    const mayBeKnown = delivery === 'sent' || !isFirst;
    const verdict = mayBeKnown ? await this.workflows.verdict(tenant, invocation, signed.answer.answerId) : 'unknown';
    if (verdict === 'silent' || verdict === 'unknown') {
      // Stored and not judged yet: no worker was quick enough, or the call has yet to record that it asked.
      if (delivery === 'sent') {
        await this.consents.noteAnswer(consent);
        return 'pending';
      }
      throw await this.refuseLate(actor, consent);
    }
    // What the workflow refused, it puts on the record itself.
    if (verdict.is === 'refused') throw refusalProblem(verdict.code);
    return 'accepted';
  }

  /** The call ended before the answer came. */
  private async refuseLate(actor: Actor, consent: ConsentRecord): Promise<Problem> {
    const latest = (await this.consents.find(consent.tenant, consent.id)) ?? consent;
    return this.refusals.refuse(actor, latest, closedCode(latest) ?? 'consent_withdrawn');
  }
}
