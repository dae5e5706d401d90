/** Who is asking: the authenticated principal of one HTTP request, from its token and never from a body (design §1). */

export const scopes = [
  'calls:write',
  'consents:read',
  'consents:decide',
  'audit:read',
  'codec:decode',
  'calls:operate',
  'servers:operate',
] as const;
/** What a token may be good for. A route names the ones that open it, see {@link RequiresScope}. */
export type Scope = (typeof scopes)[number];

export interface Actor {
  readonly tenant: string;
  readonly subject: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Other subjects of the tenant on whose behalf the actor may start calls; `*` is everyone. */
  readonly actFor: readonly string[];
}

/** Tenants and subjects become parts of keys, workflow ids and log lines: hence the narrow alphabet. */
const principal = /^[A-Za-z0-9._@:|-]{1,128}$/;

export function isPrincipal(text: unknown): text is string {
  return typeof text === 'string' && principal.test(text);
}

export function mayActFor(actor: Actor, subject: string): boolean {
  return subject === actor.subject || actor.actFor.includes('*') || actor.actFor.includes(subject);
}
