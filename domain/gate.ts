/**
 * The gate (design §6, promise 5): a pure function from a server's raw `input_required` result to either a round that a person may be
 * shown, or the reason why nobody will be. One offence refuses the whole round; nothing is repaired, cut short or left out. It reads
 * the raw result, since the SDK silently drops a malformed `requestState` or `inputRequests`.
 */

import { methods, type Capabilities } from './call.js';
import { readForm } from './form-reader.js';
import type { FormInput, RoundInput, UrlInput } from './form.js';
import { GateRefusal, type GateCode } from './gate-refusal.js';
import { pointerTo, stepsOf } from './json-pointer.js';
import { defaultMaxDepth, type GateCaps, type GateRules } from './policy.js';
import { readSampling } from './sampling-reader.js';
import { guardSecrets } from './secret-field.js';
import { isDeeperThan, isUnicode, objectAt, textAt, type JsonObject } from './server-json.js';
import { readUrl } from './url-reader.js';

export { gateCodes, gateRefusals, type GateCode } from './gate-refusal.js';

export interface GatedRound {
  /** In the server's order; empty in a state-only round. */
  readonly inputs: readonly RoundInput[];
  /** Keys of the requests for roots, which the policy answers; absent when there is none. */
  readonly roots?: readonly string[];
  /** Exactly as the server sent it; absent stays absent, and '' is a state. */
  readonly requestState?: string;
}

/** An input request that passed: a question to a person, or one that the policy answers. */
type RoundRequest = RoundInput | { readonly key: string; readonly kind: 'roots' };

/** `key` is the server's key of the offending request, `path` an RFC 6901 pointer from the result's root. Both hold server text. */
export type GateVerdict =
  | { readonly is: 'round'; readonly round: GatedRound }
  | { readonly is: 'refused'; readonly code: GateCode; readonly key?: string; readonly path?: string };

/**
 * Judges a result that is not `complete`. Never throws.
 *
 * @param method   of the leg that was answered
 * @param raw      the result as parsed from the wire, before any SDK touched it
 * @param declared what this call said it can answer; anything else is refused
 */
export function gate(method: string, raw: JsonObject, declared: Capabilities, rules: GateRules): GateVerdict {
  try {
    return { is: 'round', round: readRound(method, raw, declared, rules) };
  } catch (refusal) {
    if (!(refusal instanceof GateRefusal)) throw refusal;
    const key = stepsOf(refusal.path)[1];
    return { is: 'refused', code: refusal.code, path: refusal.path, ...(key !== undefined && { key }) };
  }
}

function readRound(method: string, raw: JsonObject, declared: Capabilities, rules: GateRules): GatedRound {
  if (raw['resultType'] !== 'input_required') throw new GateRefusal('result_type_unknown', '/resultType');
  if (!methods.some((known) => known === method)) throw new GateRefusal('method_cannot_ask', '/resultType');

  const requestState = readState(raw['requestState'], rules.gate);
  const requests = readRequests(raw['inputRequests'], declared, rules);
  if (requestState === undefined && requests.length === 0) throw new GateRefusal('nothing_asked', '');
  const roots = requests.filter(({ kind }) => kind === 'roots').map(({ key }) => key);
  return {
    inputs: requests.filter((request) => request.kind !== 'roots'),
    ...(roots.length > 0 && { roots }),
    ...(requestState !== undefined && { requestState }),
  };
}

/** Only ever measured and echoed: a state is no text for people, and half a surrogate pair in it is as good as anything. */
function readState(state: unknown, caps: GateCaps): string | undefined {
  if (state === undefined) return undefined;
  if (typeof state !== 'string') throw new GateRefusal('state_malformed', '/requestState');
  // As it is sealed and sent, that is with escapes.
  if (Buffer.byteLength(JSON.stringify(state)) > caps.maxStateBytes) throw new GateRefusal('state_too_large', '/requestState');
  return state;
}

function readRequests(raw: unknown, declared: Capabilities, rules: GateRules): RoundRequest[] {
  if (raw === undefined) return [];
  const requests = Object.entries(objectAt(raw, '/inputRequests', 'requests_malformed'));
  if (requests.length > rules.gate.maxRequests) throw new GateRefusal('too_many_requests', '/inputRequests');
  const inputs = requests.map(([key, request]) => {
    // An unfit key is not repeated in the refusal, which is stored in clear.
    if (key.length > rules.gate.maxKeyLength) throw new GateRefusal('key_too_long', '/inputRequests');
    if (!isUnicode(key)) throw new GateRefusal('text_not_unicode', '/inputRequests');
    return readRequest(key, request, declared, rules);
  });
  if (Buffer.byteLength(JSON.stringify(inputs)) > rules.gate.maxRoundBytes) {
    throw new GateRefusal('round_too_large', '/inputRequests');
  }
  return inputs;
}

function readRequest(key: string, raw: unknown, declared: Capabilities, rules: GateRules): RoundRequest {
  const path = pointerTo('/inputRequests', key);
  const request = objectAt(raw, path, 'request_malformed');
  if (isDeeperThan(rules.gate.maxDepth ?? defaultMaxDepth, request['params']))
    throw new GateRefusal('too_deep', `${path}/params`);
  switch (request['method']) {
    case 'elicitation/create':
      if (declared.elicitation === undefined) throw new GateRefusal('undeclared_kind', `${path}/method`);
      return readElicitation(key, objectAt(request['params'], `${path}/params`, 'request_malformed'), declared, rules);
    case 'sampling/createMessage': {
      if (declared.sampling === undefined) throw new GateRefusal('undeclared_kind', `${path}/method`);
      const params = objectAt(request['params'], `${path}/params`, 'request_malformed');
      return { key, kind: 'sampling', ...readSampling(params, `${path}/params`, rules.gate) };
    }
    case 'roots/list':
      if (declared.roots === undefined) throw new GateRefusal('undeclared_kind', `${path}/method`);
      if (request['params'] !== undefined) objectAt(request['params'], `${path}/params`, 'request_malformed');
      return { key, kind: 'roots' };
    default:
      throw new GateRefusal(typeof request['method'] === 'string' ? 'unknown_kind' : 'request_malformed', `${path}/method`);
  }
}

function readElicitation(key: string, params: JsonObject, declared: Capabilities, rules: GateRules): RoundInput {
  const path = `${pointerTo('/inputRequests', key)}/params`;
  switch (params['mode']) {
    case undefined: // the specification's default
    case 'form':
      if (declared.elicitation?.form === undefined) throw new GateRefusal('undeclared_mode', `${path}/mode`);
      return readFormRequest(key, params, path, rules);
    case 'url':
      if (declared.elicitation?.url === undefined) throw new GateRefusal('undeclared_mode', `${path}/mode`);
      return readUrlRequest(key, params, path, rules);
    default:
      throw new GateRefusal(typeof params['mode'] === 'string' ? 'unknown_mode' : 'request_malformed', `${path}/mode`);
  }
}

function readFormRequest(key: string, params: JsonObject, path: string, rules: GateRules): FormInput {
  const message = readMessage(params, path, rules.gate);
  const schemaAt = `${path}/requestedSchema`;
  const fields = readForm(params['requestedSchema'], schemaAt, rules.gate);
  return { key, kind: 'form', message, fields: guardSecrets(fields, `${schemaAt}/properties`, rules.secretFields) };
}

function readUrlRequest(key: string, params: JsonObject, path: string, rules: GateRules): UrlInput {
  const message = readMessage(params, path, rules.gate);
  return { key, kind: 'url', message, ...readUrl(params['url'], `${path}/url`, rules) };
}

function readMessage(params: JsonObject, path: string, caps: GateCaps): string {
  return textAt(params['message'], `${path}/message`, {
    maxBytes: caps.maxMessageBytes,
    malformed: 'request_malformed',
    tooLong: 'message_too_long',
  });
}
