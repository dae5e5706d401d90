/**
 * A person's answer to a whole round: checked against what was shown, judged as a decision, and put into the wire's shape. The API
 * checks it when it is given and the worker again before the retry; neither coerces a value nor adds a default.
 */

import { actions, type Action } from './call.js';
import { validatorsOf, type ValueFaultCode } from './field-validator.js';
import type { FormField, RoundInput } from './form.js';
import { pointerTo } from './json-pointer.js';
import type { Root } from './policy.js';
import { isObject, isUnicode, type JsonObject } from './server-json.js';

export type FieldValue = string | number | boolean | string[];

/** One input response as it goes on the wire: bare, and with content only in an accept of a form, where it is never left out. */
export type InputResponse =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, FieldValue>> }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' }
  | SampledMessage
  | { readonly roots: readonly Root[] };

/** What a person wants to be the model's message. It has no action: on the wire there is none for it, and so no way to decline. */
export interface SampledMessage {
  readonly role: 'user' | 'assistant';
  readonly content: { readonly type: 'text'; readonly text: string };
  /** Who made it, as the server is told. */
  readonly model: string;
  readonly stopReason?: string;
}

/** A response under the server's key; a list, since the key may be any string (see {@link FormInput}). */
export interface KeyedResponse {
  readonly key: string;
  readonly response: InputResponse;
}

/** Code → what is wrong with one part of an answer. */
export const answerFaults = {
  responses_malformed: 'must be an object with one response for each input',
  response_missing: 'must be given: every input of the round is answered at once',
  response_unknown: 'is not an input of this round',
  response_malformed: 'must be an object: an action, or a message where a message is asked for',
  action_unknown: `must be one of ${actions.join(', ')}`,
  content_missing: 'must be an object when a form is accepted',
  content_unexpected: 'may only be given when a form is accepted',
  member_unknown: 'is not a member of a response',
  message_malformed: 'must be a part of a message: role, content of type text, model, and perhaps stopReason',
  field_missing: 'is required',
  field_unknown: 'is not a field of the form',
  answer_too_large: 'is larger than the policy allows',
} as const;
export type AnswerFaultCode = keyof typeof answerFaults | ValueFaultCode;

/** `pointer` is RFC 6901, from the root of the request's body. No message holds what the person entered. */
export interface AnswerFault {
  readonly pointer: string;
  readonly code: AnswerFaultCode;
  readonly message: string;
}

export type AnswerCheck =
  | { readonly is: 'valid'; readonly responses: KeyedResponse[] }
  | { readonly is: 'invalid'; readonly errors: AnswerFault[] };

/** More would help nobody, and unknown members are as many as a body can hold. */
const maxErrors = 100;

/**
 * Whether `responses` answers the whole round and nothing else. Never throws on JSON.
 *
 * @param responses value of the body's member `responses`, as parsed
 * @param maxBytes  of the responses as UTF-8 JSON, as they would be sent
 * @returns the responses in the round's order, or every fault found, at most 100
 */
export function checkAnswer(inputs: readonly RoundInput[], responses: unknown, maxBytes: number): AnswerCheck {
  const errors = responsesFaults(inputs, responses);
  if (errors.length > 0) return { is: 'invalid', errors: errors.slice(0, maxErrors) };

  // Measured last: what passed so far is flat, and cannot overflow the stack of JSON.stringify.
  const given = responses as Readonly<Record<string, InputResponse>>;
  if (Buffer.byteLength(JSON.stringify(given)) > maxBytes) {
    return { is: 'invalid', errors: [fault('/responses', 'answer_too_large')] };
  }
  return { is: 'valid', responses: inputs.map(({ key }) => ({ key, response: given[key] as InputResponse })) };
}

/** The one action of all responses, or `mixed`; a message is an accept. */
export function decisionOf(responses: readonly KeyedResponse[]): Action | 'mixed' {
  const [action, ...others] = new Set(responses.map(({ response }) => ('action' in response ? response.action : 'accept')));
  return action === undefined || others.length > 0 ? 'mixed' : action;
}

/** The `inputResponses` of a retry. Safe for any key: an input named `__proto__` becomes an own member. */
export function inputResponsesOf(responses: readonly KeyedResponse[]): Record<string, InputResponse> {
  return Object.fromEntries(responses.map(({ key, response }) => [key, response]));
}

function responsesFaults(inputs: readonly RoundInput[], responses: unknown): AnswerFault[] {
  if (!isObject(responses)) return [fault('/responses', 'responses_malformed')];
  const asked = new Set(inputs.map(({ key }) => key));
  const unknown = Object.keys(responses).filter((key) => !asked.has(key));
  return [
    ...unknown.slice(0, maxErrors).map((key) => fault(pointerTo('/responses', key), 'response_unknown')),
    ...inputs.flatMap((input) => {
      const pointer = pointerTo('/responses', input.key);
      if (!Object.hasOwn(responses, input.key)) return [fault(pointer, 'response_missing')];
      return responseFaults(input, responses[input.key], pointer);
    }),
  ];
}

function responseFaults(input: RoundInput, response: unknown, pointer: string): AnswerFault[] {
  if (!isObject(response)) return [fault(pointer, 'response_malformed')];
  if (input.kind === 'sampling') return messageFaults(response, pointer);
  const action = actions.find((known) => known === response['action']);
  if (action === undefined) return [fault(`${pointer}/action`, 'action_unknown')];
  return [...strange(response, ['action', 'content'], pointer), ...contentFaults(input, action, response, `${pointer}/content`)];
}

function messageFaults(message: JsonObject, pointer: string): AnswerFault[] {
  const { role, content, model, stopReason } = message;
  const wrong = (isRight: boolean, member: string) => (isRight ? [] : [fault(`${pointer}/${member}`, 'message_malformed')]);
  const isText = (value: unknown) => typeof value === 'string' && isUnicode(value);
  return [
    ...strange(message, ['role', 'content', 'model', 'stopReason'], pointer),
    ...wrong(role === 'assistant' || role === 'user', 'role'),
    ...wrong(isText(model) && model !== '', 'model'),
    ...wrong(!Object.hasOwn(message, 'stopReason') || isText(stopReason), 'stopReason'),
    ...(isObject(content)
      ? [
          ...strange(content, ['type', 'text'], `${pointer}/content`),
          ...wrong(content['type'] === 'text', 'content/type'),
          ...wrong(isText(content['text']), 'content/text'),
        ]
      : wrong(false, 'content')),
  ];
}

function strange(object: JsonObject, members: readonly string[], pointer: string): AnswerFault[] {
  return Object.keys(object)
    .filter((member) => !members.includes(member))
    .slice(0, maxErrors)
    .map((member) => fault(pointerTo(pointer, member), 'member_unknown'));
}

/** The kind and the action decide whether there may be content, and only an accept is checked against the form. */
function contentFaults(input: RoundInput, action: Action, response: JsonObject, pointer: string): AnswerFault[] {
  if (action !== 'accept' || input.kind !== 'form')
    return Object.hasOwn(response, 'content') ? [fault(pointer, 'content_unexpected')] : [];
  if (!isObject(response['content'])) return [fault(pointer, 'content_missing')];
  return formFaults(input.fields, response['content'], pointer);
}

function formFaults(fields: readonly FormField[], content: JsonObject, pointer: string): AnswerFault[] {
  const names = new Set(fields.map(({ name }) => name));
  const unknown = Object.keys(content).filter((name) => !names.has(name));
  const validators = validatorsOf(fields);
  return [
    ...unknown.slice(0, maxErrors).map((name) => fault(pointerTo(pointer, name), 'field_unknown')),
    ...fields.flatMap(({ name, required }, index) => {
      const at = pointerTo(pointer, name);
      if (!Object.hasOwn(content, name)) return required ? [fault(at, 'field_missing')] : [];
      const wrong = validators[index]?.(content[name]);
      return wrong === undefined ? [] : [{ pointer: at + wrong.pointer, code: wrong.code, message: wrong.message }];
    }),
  ];
}

function fault(pointer: string, code: keyof typeof answerFaults): AnswerFault {
  return { pointer, code, message: answerFaults[code] };
}
