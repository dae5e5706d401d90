/**
 * Digests of JSON values (design §4): SHA-256 over the RFC 8785 canonical form, so that spacing and member order never matter.
 * Not for workflow code: the sandbox has no crypto.
 */

import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

export type DigestFaultCode = 'lone_surrogate' | 'not_json';

/** A value has no canonical form. The message never quotes the value. */
export class DigestFault extends Error {
  constructor(readonly code: DigestFaultCode) {
    super(code === 'lone_surrogate' ? 'text with a lone surrogate has no canonical form' : 'the value is not JSON');
    this.name = 'DigestFault';
  }
}

/**
 * @param json anything JSON can say; a member called `__proto__` is data like any other
 * @returns `sha256:` and 64 hexadecimal digits
 * @throws {DigestFault} `lone_surrogate` for text that is not Unicode, `not_json` for anything else (too deep, cyclic, NaN, undefined)
 */
export function digestOf(json: unknown): string {
  return `sha256:${createHash('sha256').update(canonical(json), 'utf8').digest('hex')}`;
}

function canonical(json: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(json);
  } catch (error) {
    const isSurrogate = error instanceof Error && error.message.startsWith('Lone surrogate');
    throw new DigestFault(isSurrogate ? 'lone_surrogate' : 'not_json');
  }
  if (text === undefined) throw new DigestFault('not_json');
  return text;
}
