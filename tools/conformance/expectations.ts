/**
 * What the suite must say of Parley, check by check: less is a fault, and so is more, for then something here or in the suite has changed
 * that nobody has looked at. Of every other scenario this says why Parley is not judged by it.
 */

import type { ScenarioName } from './conversations.js';

export interface Expectation {
  /** Checks that hold. */
  readonly passed: number;
  /** Checks that the suite skips, by their names, and why that is right. */
  readonly skipped?: Readonly<Record<string, string>>;
}

const noHandshake = 'this revision has no such request';
const notCallable = 'a call is of a tool, a prompt or a resource that the caller names; Parley lists tools only';
const notDeclared = 'not declared: Parley declares it only where the policy of the server allows it, and refuses it elsewhere';

export const expectations: Readonly<Record<ScenarioName, Expectation>> = {
  'sep-2322-client-request-state': { passed: 5 },
  tools_call: { passed: 2 },
  'request-metadata': {
    passed: 6,
    skipped: { ClientDeclaresRootsCapability: notDeclared, ClientDeclaresSamplingCapability: notDeclared },
  },
  'http-standard-headers': {
    passed: 7,
    skipped: {
      ClientMcpMethodHeader_initialize: noHandshake,
      ClientMcpMethodHeader_notifications_initialized: noHandshake,
      ClientMcpMethodHeader_resources_list: notCallable,
      ClientMcpMethodHeader_prompts_list: notCallable,
    },
  },
  'http-custom-headers': { passed: 18 },
  'http-invalid-tool-headers': { passed: 12 },
  'json-schema-ref-no-deref': { passed: 1 },
  'json-schema-2020-12-preservation': { passed: 9 },
};

/** What the suite must say of the example server that the tests call through Parley (examples/conformance-server). */
export const serverExpectations: Readonly<Record<string, Expectation>> = {
  'input-required-result-basic-elicitation': { passed: 3 },
  'input-required-result-basic-sampling': { passed: 3 },
  'input-required-result-basic-list-roots': { passed: 3 },
  'input-required-result-request-state': { passed: 3 },
  'input-required-result-multiple-input-requests': { passed: 3 },
  'input-required-result-multi-round': { passed: 4 },
  'input-required-result-missing-input-response': { passed: 2 },
  'input-required-result-non-tool-request': { passed: 3 },
  'input-required-result-result-type': { passed: 2 },
  'input-required-result-unsupported-methods': { passed: 2 },
  'input-required-result-tampered-state': { passed: 2 },
  'input-required-result-capability-check': { passed: 2 },
  'input-required-result-ignore-extra-params': { passed: 2 },
  'input-required-result-validate-input': { passed: 3 },
};

/** Every scenario of the suite that is not run matches one of these, and each of these matches one. */
export const notApplicable: readonly { readonly scenarios: RegExp; readonly reason: string }[] = [
  {
    scenarios: /^auth\//,
    reason:
      'the client of these gets its tokens from an authorization server. Parley is given them, by reference in `parley.servers.yaml`, and speaks to none; a 401 parks the call until its credential is renewed, a 403 ends it',
  },
  {
    scenarios: /^(initialize|elicitation-sep1034-client-defaults|sse-retry)$/,
    reason: 'of older revisions, which Parley does not speak',
  },
  { scenarios: /^sep-2640-/, reason: 'of the skills extension, which Parley does not have' },
];
