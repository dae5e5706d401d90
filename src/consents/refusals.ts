/** No to an answer: said to the person as a problem, and put on the audit record (promise 3). */

import { Injectable } from '@nestjs/common';
import type { RegisteredPart } from '../../domain/binding.js';
import type { ProblemCode } from '../../domain/codes.js';
import type { ConsentRecord, RefusalCode } from '../../domain/consent.js';
import { isConsentId } from '../../domain/ids.js';
import { Audit } from '../audit/audit.js';
import type { Actor } from '../auth/actor.js';
import { Log } from '../log/log.js';
import { type FieldError, Problem } from '../problems/problem.js';

/** Also what is refused before the workflow hears of it. */
type AnyRefusal = RefusalCode | 'answer_invalid' | 'binding_lost';

interface Why {
  readonly errors?: readonly FieldError[];
  /** Of a binding. */
  readonly lost?: RegisteredPart;
}

@Injectable()
export class Refusals {
  constructor(
    private readonly audit: Audit,
    private readonly log: Log,
  ) {}

  /** Puts it on the record; the caller throws what is returned. A record that cannot be written does not turn a no into a yes. */
  async refuse(actor: Actor, consent: ConsentRecord | string, code: AnyRefusal, why: Why = {}): Promise<Problem> {
    const about = typeof consent === 'string' ? aboutUnknown(consent) : aboutConsent(consent);
    const reason = why.lost === undefined ? {} : { reason: why.lost };
    try {
      await this.audit.append(actor.tenant, { type: 'answer_refused', ...about, actor: actor.subject, code, ...reason });
    } catch (error) {
      this.log.error({ event: 'refusal_not_recorded', code, err: error }, 'a refused answer is not on the audit record');
    }
    return refusalProblem(code, why);
  }
}

/** @returns for a foreign answer what an unknown consent gets: nobody learns what others are asked */
export function refusalProblem(code: AnyRefusal, { errors, lost }: Why = {}): Problem {
  const said: ProblemCode = code === 'answer_foreign' ? 'consent_unknown' : code;
  return new Problem(said, { ...(errors !== undefined && { errors }), ...(lost !== undefined && { detail: lost }) });
}

/** What is no id is whatever the caller typed into the address, and has no place on the record. */
function aboutUnknown(id: string) {
  return isConsentId(id) ? { consent: id } : {};
}

/** @returns undefined while the consent can be answered, as far as the inbox knows */
export function closedCode({ status, deadlineAt }: ConsentRecord) {
  if (status !== 'open') return `consent_${status}` as const;
  return Date.now() >= deadlineAt ? 'consent_expired' : undefined;
}

/** What an audit event says of a consent. */
export function aboutConsent({ id, invocation, round, server, method, name, subject, viewDigest }: ConsentRecord) {
  return { consent: id, invocation, round, server, method, name, subject, viewDigest };
}
