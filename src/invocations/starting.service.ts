/** Starting a call (design §9): admit it, give it an id once, launch it, and wait if the caller wants to. */

import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type BoundCall, capabilitiesOf } from '../../domain/call.js';
import { type InvocationId, invocationIdFrom } from '../../domain/ids.js';
import type { Actor } from '../auth/actor.js';
import { Sealer } from '../crypto/sealer.js';
import { type Attempt, bodyDigestOf, RepeatableReplies } from '../http/repeatable-replies.js';
import type { IdempotencyScope } from '../idempotency/idempotency.js';
import { Ledger, type Position } from '../ledger/ledger.js';
import { type AdmittedCall, Admission } from './admission.js';
import { InvocationView } from './invocation-view.js';
import type { InvocationBody, StartBody } from './invocations.contract.js';
import { InvocationsService } from './invocations.service.js';
import { Launching } from './launching.js';
import { Waiting, type Watch } from './waiting.js';

type Chosen = { readonly invocation: InvocationId };
/** A result is not kept a second time: a repeat reads it from the invocation. */
interface KeptReply {
  readonly body: InvocationBody;
  readonly hadResult: boolean;
}

@Injectable()
export class StartingService {
  constructor(
    private readonly admission: Admission,
    private readonly replies: RepeatableReplies,
    private readonly ledger: Ledger,
    private readonly sealer: Sealer,
    private readonly launching: Launching,
    private readonly waiting: Waiting,
    private readonly view: InvocationView,
    private readonly invocations: InvocationsService,
  ) {}

  /** @param waitSeconds 0: reply as soon as the call is durable */
  async start(actor: Actor, key: string, body: StartBody, waitSeconds: number): Promise<InvocationBody> {
    const scope: IdempotencyScope = { tenant: actor.tenant, actor: actor.subject, route: 'invocations.start', key };
    const digestWith = (paramsDigest: string) => bodyDigestOf({ ...body, params: paramsDigest });
    const admitted = await this.admission.admit(actor, body).catch(async (refusal: unknown) => {
      // What is refused today may have been taken when it first came: a repeat gets the first reply, whatever has changed since.
      const first = await this.replies.find<KeptReply>(scope, digestWith(bodyDigestOf(body.params, '/params')));
      if (first === undefined) throw refusal;
      return first;
    });
    if ('hadResult' in admitted) return this.repeat(actor, admitted);
    const bodyDigest = digestWith(admitted.paramsDigest);
    const fresh: Chosen = { invocation: invocationIdFrom(randomUUID()) };
    const watch = waitSeconds > 0 ? this.waiting.watch(actor.tenant, fresh.invocation) : undefined;
    try {
      // One round trip for all of them. The subscription must stand before the call can change.
      const [attempt, ledger] = await Promise.all([
        this.replies.begin<Chosen, KeptReply>(scope, bodyDigest, fresh),
        this.ledger.position(),
        watch?.ready(),
      ]);
      if (attempt.reply !== undefined) return await this.repeat(actor, attempt.reply);
      const call = this.bind(actor, admitted, attempt.chosen.invocation, ledger);
      const reply = await this.run(call, attempt, watch, waitSeconds * 1_000);
      const kept = this.replies.keep(scope, attempt.chosen, {
        body: { ...reply, result: null },
        hadResult: reply.result !== null,
      });
      // A call that has ended looks the same for ever, kept or not; only the first look at one that goes on must not be lost.
      if (reply.outcome === null) await kept;
      return reply;
    } finally {
      watch?.close();
    }
  }

  private async run(
    call: BoundCall,
    attempt: Attempt<Chosen, KeptReply>,
    watch: Watch | undefined,
    waitMs: number,
  ): Promise<InvocationBody> {
    const record = await this.launching.launch(call);
    if (watch === undefined) return this.view.body(record);
    if (attempt.isFirst) return this.view.body((await watch.untilSettled(waitMs)) ?? record);
    // The first attempt chose another id than the one that is watched.
    const other = this.waiting.watch(call.tenant, call.invocation);
    try {
      return this.view.body((await other.untilSettled(waitMs)) ?? record);
    } finally {
      other.close();
    }
  }

  private async repeat(actor: Actor, { body, hadResult }: KeptReply): Promise<InvocationBody> {
    if (!hadResult) return body;
    return { ...body, result: await this.invocations.result(actor, body.id) };
  }

  private bind(actor: Actor, admitted: AdmittedCall, invocation: InvocationId, ledger: Position): BoundCall {
    const { tenant } = actor;
    const { server, subject, method, name, params, paramsDigest, policy } = admitted;
    return {
      invocation,
      tenant,
      subject,
      requester: actor.subject,
      server: server.id,
      serverDigest: server.digest,
      method,
      name,
      params: this.sealer.seal(params, { tenant, invocation, field: 'params' }),
      paramsDigest,
      capabilities: capabilitiesOf(policy.allow),
      policy,
      policyDigest: server.policyDigest,
      ledgerEpoch: ledger.epoch,
      ledgerClock: ledger.clock,
      startedAt: Date.now(),
    };
  }
}
