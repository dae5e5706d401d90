/** Turns checked responses into an answer: content sealed, decision in clear, and a signed receipt of who was shown what (promise 3). */

import { Injectable } from '@nestjs/common';
import { decisionOf, type KeyedResponse } from '../../domain/answers.js';
import type { Answer } from '../../domain/call.js';
import type { ConsentRecord } from '../../domain/consent.js';
import type { Actor } from '../auth/actor.js';
import { Receipts } from '../crypto/receipts.js';
import { Sealer } from '../crypto/sealer.js';
import { Records } from '../records/records.js';

/** Chosen once per answer, so that a repeat signs the very same receipt. */
export interface ReceiptSeed {
  readonly receipt: string;
  /** ISO 8601, on the API's clock. */
  readonly decidedAt: string;
}

export interface SignedAnswer {
  readonly answer: Answer;
  readonly receipt: { readonly id: string; readonly jws: string };
}

@Injectable()
export class AnswerSigner {
  constructor(
    private readonly sealer: Sealer,
    private readonly receipts: Receipts,
    private readonly records: Records,
  ) {}

  async sign(
    actor: Actor,
    consent: ConsentRecord,
    answerId: string,
    responses: readonly KeyedResponse[],
    seed: ReceiptSeed,
  ): Promise<SignedAnswer> {
    const { tenant, invocation, round, server, method, name, paramsDigest, viewDigest } = consent;
    const decision = decisionOf(responses);
    // Over the text that is sealed: the worker compares the two before it sends.
    const responsesDigest = this.sealer.fingerprint(JSON.stringify(responses));
    const jws = await this.receipts.sign({
      id: seed.receipt,
      tenant,
      invocation,
      consent: consent.id,
      round,
      subject: actor.subject,
      server,
      method,
      name,
      paramsDigest,
      viewDigest,
      responsesDigest,
      decision,
      decidedAt: seed.decidedAt,
    });
    const answer: Answer = {
      answerId,
      consent: consent.id,
      viewDigest,
      actor: actor.subject,
      tenant,
      decision,
      givenAt: Date.now(),
      responses: this.sealer.seal(responses, { tenant, invocation, field: `answer.${consent.id}` }),
      responsesDigest,
      receipt: jws,
    };
    return { answer, receipt: { id: seed.receipt, jws } };
  }

  async save(consent: ConsentRecord, { answer, receipt }: SignedAnswer): Promise<void> {
    const { tenant, actor: subject } = answer;
    await this.records.saveReceipt(tenant, receipt.id, { jws: receipt.jws, subject, invocation: consent.invocation });
  }
}
