/**
 * Whether what a call was bound to at its start still stands, as far as the registration of its server tells (design §4). Asked before every
 * leg, when an answer arrives, and when a parked call is told to look again. The rest of the binding is in what a leg takes along: it is
 * checked where the leg is planned.
 */

import type { BoundCall } from './call.js';
import type { BindingPart } from './outcome.js';
import type { Policy } from './policy.js';

/** For whom, by whom, and of which customer a call is. */
export interface Principal {
  readonly tenant: string;
  readonly subject: string;
  readonly requester: string;
}

/** Who may use a server. Each list that is there must name the call's own; one that is absent leaves everybody in. */
export interface Access {
  readonly tenants?: readonly string[];
  readonly subjects?: readonly string[];
  readonly requesters?: readonly string[];
}

/** What a call was bound to. It is kept with every question, so that the API can compare: members may be added as optional, never renamed. */
export interface Binding extends Principal {
  readonly serverDigest: string;
  /** Of the policy; a call whose policy had none is bound to that. */
  readonly policyVersion?: string;
}

/** What a server's registration says now. */
export interface Registration {
  readonly digest: string;
  readonly policy: Pick<Policy, 'version'>;
  readonly access?: Access;
}

export type RegisteredPart = Extract<BindingPart, 'server_changed' | 'policy_changed' | 'principal_not_allowed'>;

export function bindingOf({ tenant, subject, requester, serverDigest, policy: { version } }: BoundCall): Binding {
  return { tenant, subject, requester, serverDigest, ...(version !== undefined && { policyVersion: version }) };
}

/**
 * @param now undefined when there is no such server any more
 * @returns what does not hold; undefined when all of it does
 */
export function lostPart(binding: Binding, now: Registration | undefined): RegisteredPart | undefined {
  if (now === undefined || now.digest !== binding.serverDigest) return 'server_changed';
  if (now.policy.version !== binding.policyVersion) return 'policy_changed';
  return shutOut(now.access, binding) === undefined ? undefined : 'principal_not_allowed';
}

/** Whether a tenant may use the server at all; for any other it does not exist. */
export function isOpenTo(access: Access | undefined, tenant: string): boolean {
  return access?.tenants?.includes(tenant) ?? true;
}

/** @returns who of them may not use the server; undefined when all may */
export function shutOut(access: Access | undefined, { tenant, subject, requester }: Principal): keyof Principal | undefined {
  if (!isOpenTo(access, tenant)) return 'tenant';
  if (access?.subjects?.includes(subject) === false) return 'subject';
  return access?.requesters?.includes(requester) === false ? 'requester' : undefined;
}
