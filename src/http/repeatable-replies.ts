/**
 * One reply per Idempotency-Key (design §9): a repeated POST gets the first reply, and one whose first attempt died half way carries on
 * under the ids that were chosen then. Replies hold results and arguments, so they are stored sealed.
 */

import { Injectable } from '@nestjs/common';
import { digestOf, DigestFault } from '../../domain/digest.js';
import type { Sealed } from '../../domain/call.js';
import { Sealer } from '../crypto/sealer.js';
import { Idempotency, type IdempotencyScope } from '../idempotency/idempotency.js';
import { Log } from '../log/log.js';
import { fieldFaults } from '../problems/field-faults.js';
import { Problem } from '../problems/problem.js';

/** What was chosen when the key was first seen: the invocation it is about, and whatever else must be the same on a repeat. */
export interface Chosen extends Record<string, string> {
  readonly invocation: string;
}

export interface Attempt<C extends Chosen, R> {
  /** False on a repeat. */
  readonly isFirst: boolean;
  readonly chosen: C;
  /** The first reply, when there was one. */
  readonly reply?: R;
}

@Injectable()
export class RepeatableReplies {
  constructor(
    private readonly idempotency: Idempotency,
    private readonly sealer: Sealer,
    private readonly log: Log,
  ) {}

  /**
   * @param bodyDigest of everything that makes two requests the same, see {@link bodyDigestOf}
   * @param fresh what counts if the key was never seen
   * @throws {Problem} `idempotency_key_reused` when the key came with another body
   */
  async begin<C extends Chosen, R>(scope: IdempotencyScope, bodyDigest: string, fresh: C): Promise<Attempt<C, R>> {
    const fingerprint = this.sealer.fingerprint(bodyDigest);
    // Not compared as text: the key of the fingerprint may have been rotated since.
    const isSame = (first: string) => this.sealer.sameFingerprint(bodyDigest, first);
    const reservation = await this.idempotency.reserve(scope, fingerprint, fresh, isSame);
    switch (reservation.is) {
      case 'fresh':
        return { isFirst: true, chosen: fresh };
      case 'mismatch':
        throw new Problem('idempotency_key_reused');
      case 'again': {
        const chosen = reservation.kept as C;
        const { reply } = reservation;
        if (reply === undefined) return { isFirst: false, chosen };
        const first = this.sealer.unseal<R>(reply as Sealed, sealScope(scope, chosen));
        return { isFirst: false, chosen, reply: first };
      }
    }
    return reservation satisfies never;
  }

  /**
   * An act that chooses nothing of its own: a repeat gets the first reply, and one without a reply does the act again, which must allow that.
   *
   * @throws {Problem} `idempotency_key_reused`, and whatever the act does: then nothing is kept
   */
  async once<R>(scope: IdempotencyScope, bodyDigest: string, about: Chosen, act: () => Promise<R>): Promise<R> {
    const attempt = await this.begin<Chosen, R>(scope, bodyDigest, about);
    if (attempt.reply !== undefined) return attempt.reply;
    const reply = await act();
    await this.keep(scope, attempt.chosen, reply);
    return reply;
  }

  /** Whether {@link begin} has seen the key: what is done under it may be done. */
  async isBegun(scope: IdempotencyScope): Promise<boolean> {
    return this.idempotency.isKnown(scope);
  }

  /** The first reply under a key, if the same body got one. */
  async find<R>(scope: IdempotencyScope, bodyDigest: string): Promise<R | undefined> {
    const found = await this.idempotency.find(scope);
    if (found === null || !this.sealer.sameFingerprint(bodyDigest, found.fingerprint)) return undefined;
    return this.sealer.unseal<R>(found.reply as Sealed, sealScope(scope, found.kept as Chosen));
  }

  /** The act is done whether or not its reply can be kept: a repeat then finds out anew what came of it. */
  async keep(scope: IdempotencyScope, chosen: Chosen, reply: unknown): Promise<void> {
    try {
      await this.idempotency.complete(scope, this.sealer.seal(reply, sealScope(scope, chosen)));
    } catch (error) {
      this.log.warn({ event: 'reply_not_kept', route: scope.route, err: error }, 'a reply could not be kept');
    }
  }
}

/** @throws {Problem} `text_not_unicode`, `body_invalid` when the value is nested too deeply to have a canonical form */
export function bodyDigestOf(json: unknown, pointer = ''): string {
  try {
    return digestOf(json);
  } catch (error) {
    if (!(error instanceof DigestFault)) throw error;
    if (error.code === 'lone_surrogate') throw new Problem('text_not_unicode');
    throw new Problem('body_invalid', { errors: [{ pointer, code: 'too_deep', message: fieldFaults.too_deep }] });
  }
}

function sealScope({ tenant, route }: IdempotencyScope, { invocation }: Chosen) {
  return { tenant, invocation, field: `reply.${route}` };
}
