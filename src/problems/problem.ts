/** What the API throws to say no (RFC 9457). The table of codes is {@link problemCodes}. */

import { type ProblemCode, problemCodes } from '../../domain/codes.js';

/** One thing that is wrong with a body; `pointer` is an RFC 6901 pointer from the body's root. */
export interface FieldError {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

export interface ProblemExtra {
  /** For people, about this occurrence. It reaches the caller: no secrets, nothing of another tenant. */
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  /** Becomes the Retry-After header. */
  readonly retryAfterSeconds?: number;
}

export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly code: ProblemCode,
    readonly extra: ProblemExtra = {},
  ) {
    super(`${code}: ${problemCodes[code].title}`);
  }

  get status(): number {
    return problemCodes[this.code].status;
  }

  /** The body that is sent, application/problem+json. */
  toJSON(): ProblemBody {
    const { status, title, advice } = problemCodes[this.code];
    const { detail, errors } = this.extra;
    return {
      type: `urn:parley:problem:${this.code}`,
      title,
      status,
      code: this.code,
      ...(detail === undefined ? {} : { detail }),
      advice,
      ...(errors === undefined ? {} : { errors }),
    };
  }
}

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail?: string;
  readonly advice: string;
  readonly errors?: readonly FieldError[];
}
