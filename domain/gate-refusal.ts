/**
 * Why a server's question reaches nobody (design §6). The one place where the gate's codes are listed; they are a public contract and
 * end up as the reason of a `refused` call.
 */

/** Code → what it says to the caller. No sentence holds a word of the server's. */
export const gateRefusals = {
  result_type_unknown: 'The result type is neither complete nor input_required.',
  method_cannot_ask: 'Only tools/call, prompts/get and resources/read may answer input_required.',
  nothing_asked: 'An input_required result has neither input requests nor a request state.',
  state_malformed: 'The request state is present and is not a string.',
  state_too_large: 'The request state is larger than the policy allows.',
  requests_malformed: 'The input requests are present and are not an object.',
  too_many_requests: 'The round has more input requests than the policy allows.',
  round_too_large: 'The input requests together are larger than the policy allows.',
  key_too_long: 'The key of an input request is longer than the policy allows.',
  too_deep: 'An input request is nested more deeply than the policy allows.',
  request_malformed: 'An input request does not have the shape that its method prescribes.',
  unknown_kind: 'An input request has a method that the protocol does not know.',
  undeclared_kind: 'An input request is of a kind that this call did not declare.',
  unknown_mode: 'An elicitation has a mode that the protocol does not know.',
  undeclared_mode: 'An elicitation is in a mode that this call did not declare.',
  message_too_long: 'The message of an elicitation is larger than the policy allows.',
  sampling_content_unsupported: 'A sampling request holds something else than text.',
  url_malformed: 'The URL of an elicitation is no absolute http or https URL with its host spelled out.',
  url_too_long: 'The URL of an elicitation is longer than the policy allows.',
  url_scheme_refused: 'The URL of an elicitation is not https; http is only for loopback, where the policy allows it.',
  url_userinfo: 'The URL of an elicitation names a user before its host.',
  url_character_refused: 'The URL of an elicitation holds a space, a control character or one that nobody can see.',
  label_too_long: 'A name, title, description or option is larger than the policy allows.',
  default_too_long: 'The default of a text field is larger than the policy allows for a message.',
  text_not_unicode: 'A text that would be shown holds half of a surrogate pair.',
  schema_malformed: 'A form schema, or a keyword of it, does not have the form that JSON Schema prescribes.',
  schema_keyword_unsupported: 'A form schema holds a constraint that Parley would not enforce.',
  field_kind_unsupported: 'A form field is not a string, number, integer, boolean or choice.',
  format_unsupported: 'A text field has a format other than email, uri, date and date-time.',
  secret_field: 'A form field looks as if it asked for a password, a key, a token or card data.',
  too_many_fields: 'A form has more fields than the policy allows.',
  too_many_options: 'A choice has more options than the policy allows.',
  option_repeated: 'A choice offers the same value twice.',
  bounds_impossible: 'The bounds of a field leave no value that would satisfy them.',
  default_invalid: 'The default of a field has the wrong type or is none of its options.',
} as const;

export type GateCode = keyof typeof gateRefusals;

export const gateCodes = Object.keys(gateRefusals) as readonly GateCode[];

/**
 * Unwinds the gate's readers; {@link ./gate.ts} turns it into a value and it goes no further.
 *
 * @property path where in the result the offence is (RFC 6901, from the result's root)
 */
export class GateRefusal extends Error {
  constructor(
    readonly code: GateCode,
    readonly path: string,
  ) {
    super(code);
  }
}
