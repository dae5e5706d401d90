/**
 * Identifiers (design §1). An id is opaque: a prefix that names its kind and 32 hexadecimal digits of randomness.
 * Randomness is the caller's: the API uses the operating system's, a workflow its own deterministic generator.
 */

declare const kind: unique symbol;
type Id<P extends string> = `${P}_${string}` & { readonly [kind]: P };

export type InvocationId = Id<'inv'>;
export type ConsentId = Id<'cns'>;

const shape = /^[0-9a-f]{32}$/;

/** @param uuid any RFC 9562 UUID */
export function invocationIdFrom(uuid: string): InvocationId {
  return `inv_${hexDigits(uuid)}` as InvocationId;
}

/** @param uuid any RFC 9562 UUID */
export function consentIdFrom(uuid: string): ConsentId {
  return `cns_${hexDigits(uuid)}` as ConsentId;
}

export function isInvocationId(text: string): text is InvocationId {
  return text.startsWith('inv_') && shape.test(text.slice(4));
}

export function isConsentId(text: string): text is ConsentId {
  return text.startsWith('cns_') && shape.test(text.slice(4));
}

/** The JSON-RPC id of one leg: a string, different on every leg of every call (MCP 2026-07-28, MRTR). */
export function wireId(invocation: InvocationId, leg: number): string {
  return `${invocation}.${leg}`;
}

/** One workflow per invocation; the id is chosen once and never reused (design §1). */
export function workflowId(tenant: string, invocation: InvocationId): string {
  return `${tenant}/${invocation}`;
}

function hexDigits(uuid: string): string {
  const digits = uuid.replaceAll('-', '').toLowerCase();
  if (!shape.test(digits)) throw new TypeError('an id is made from a UUID');
  return digits;
}
