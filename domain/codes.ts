/**
 * Every way the API says no, in one place: the code is a public contract, the sentence is for people. `title` says what is wrong,
 * `advice` what to do next. Neither ever holds a word of the request.
 */

export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  readonly advice: string;
}

const kinds = {
  malformed_json: {
    status: 400,
    title: 'The body is not JSON',
    advice: 'Send one JSON document in UTF-8.',
  },
  body_invalid: {
    status: 400,
    title: 'The body does not fit what this route takes',
    advice: 'Correct the members that `errors` points at; unknown members are refused.',
  },
  query_invalid: {
    status: 400,
    title: 'A part of the address does not fit what this route takes',
    advice: 'Correct the parameters that `errors` points at; unknown parameters are refused.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is larger than this route takes',
    advice: 'Send less; the limits are in docs/configuration.md.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is of a type or encoding that is not taken',
    advice: 'Send `Content-Type: application/json` in UTF-8.',
  },
  idempotency_key_missing: {
    status: 400,
    title: 'This route needs an Idempotency-Key header',
    advice: 'Choose a new random key for each act and repeat it when you repeat the request.',
  },
  idempotency_key_invalid: {
    status: 400,
    title: 'The Idempotency-Key is not one that can be taken',
    advice: 'Send one string of 1 to 255 characters.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The Idempotency-Key was used for another body',
    advice: 'Repeat the first body exactly, or choose a new key for a new act.',
  },
  token_missing: {
    status: 401,
    title: 'No bearer token was sent',
    advice: 'Send `Authorization: Bearer <JWT>`.',
  },
  token_invalid: {
    status: 401,
    title: 'The bearer token is not valid here',
    advice: 'Get a token from the configured issuer for this audience, with the claims `tenant` and `sub`.',
  },
  token_expired: {
    status: 401,
    title: 'The bearer token has expired',
    advice: 'Get a new token and repeat the request.',
  },
  scope_missing: {
    status: 403,
    title: 'The token does not carry the scope this route needs',
    advice: 'Get a token with the scope that `detail` names.',
  },
  subject_not_allowed: {
    status: 403,
    title: 'The caller may not act for this subject',
    advice: 'Start the call for yourself, or get a token whose `act_for` claim lists the subject.',
  },
  issuer_unavailable: {
    status: 503,
    title: "The issuer's keys cannot be read, so no token can be checked",
    advice: 'Repeat the request later.',
  },
  server_unknown: {
    status: 422,
    title: 'No such server is registered',
    advice: 'Choose one from GET /v1/servers.',
  },
  server_not_allowed: {
    status: 403,
    title: 'The server may not be called by this caller, or not for this subject',
    advice: 'Choose another server, or ask the operator to list who `detail` names under `access` of the server.',
  },
  server_absent: {
    status: 404,
    title: 'No such server is registered',
    advice: 'Choose one from GET /v1/servers.',
  },
  server_unavailable: {
    status: 503,
    title: 'The server does not say what it offers',
    advice: 'Repeat the request later; `detail` says what went wrong.',
  },
  reauthorization_required: {
    status: 502,
    title: 'The server refuses the registered credential, or it cannot be read',
    advice:
      'Ask the operator to renew the credential that the registry names for the server; before that a repetition changes nothing.',
  },
  tool_unknown: {
    status: 422,
    title: 'The server offers no such tool',
    advice: 'Choose one from GET /v1/servers/{id}/tools.',
  },
  arguments_too_large: {
    status: 413,
    title: "The params are larger than the server's policy allows",
    advice: 'Send less, or ask the owner of the server to raise maxArgumentsBytes.',
  },
  text_not_unicode: {
    status: 422,
    title: 'A string holds half of a surrogate pair and has no UTF-8 form',
    advice: 'Send well-formed Unicode only.',
  },
  invocation_unknown: {
    status: 404,
    title: 'There is no such invocation for you',
    advice: 'Look for it in GET /v1/invocations.',
  },
  invocation_not_waiting: {
    status: 409,
    title: 'The invocation waits for nothing that a resume could bring',
    advice: 'Read the invocation: it is over, or it waits for the server or for an answer to its consent.',
  },
  result_absent: {
    status: 404,
    title: 'The invocation has no result',
    advice: 'Read the invocation: it is still open, or its outcome is not `completed`.',
  },
  consent_unknown: {
    status: 404,
    title: 'There is no such consent for you',
    advice: 'Look for open ones in GET /v1/consents.',
  },
  consent_answered: {
    status: 409,
    title: 'The consent has been answered already',
    advice: 'Nothing is left to do: the first answer counts.',
  },
  consent_withdrawn: {
    status: 409,
    title: 'The question was withdrawn, because its call has ended',
    advice: 'Read the invocation for its outcome.',
  },
  consent_expired: {
    status: 410,
    title: 'The deadline of the question has passed',
    advice: 'Start the call again if it is still wanted.',
  },
  binding_lost: {
    status: 409,
    title: 'What the call was bound to has changed, so its question can be answered no more',
    advice: 'Nothing was sent. `detail` is the reason; start the call again if it is still wanted.',
  },
  url_unknown: {
    status: 422,
    title: 'The consent has no URL under this key',
    advice: 'Name an input of the consent whose `kind` is `url`.',
  },
  answer_mismatch: {
    status: 409,
    title: 'The answer is to something else than what is asked',
    advice: 'Read the consent again, and answer with the digest of what was shown.',
  },
  // Never told (see toldCodes): only the audit record says that somebody else's question was answered.
  answer_foreign: {
    status: 404,
    title: 'There is no such consent for you',
    advice: 'Look for open ones in GET /v1/consents.',
  },
  answer_invalid: {
    status: 422,
    title: 'The answer does not fit the form',
    advice: 'Correct the members that `errors` points at; nothing was sent.',
  },
  receipt_unknown: {
    status: 404,
    title: 'There is no such receipt for you',
    advice: 'The receipt id is in the reply to an accepted answer.',
  },
  cursor_invalid: {
    status: 422,
    title: 'The cursor is not one that was given out for this list',
    advice: 'Start again without a cursor.',
  },
  route_unknown: {
    status: 404,
    title: 'There is no such route',
    advice: 'The routes are in /openapi.json.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The route does not know this method',
    advice: 'Use a method that the Allow header lists.',
  },
  store_unavailable: {
    status: 503,
    title: 'The store cannot be reached',
    advice: 'Repeat the request later, with the same Idempotency-Key.',
  },
  temporal_unavailable: {
    status: 503,
    title: 'Temporal cannot be reached',
    advice: 'Repeat the request later, with the same Idempotency-Key.',
  },
  internal: {
    status: 500,
    title: 'Parley failed in a way it should not',
    advice: 'Repeat the request once with the same Idempotency-Key, then tell the operator the time of the failure.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof kinds;

export const problemCodes: Readonly<Record<ProblemCode, ProblemKind>> = kinds;

/** What a caller may be told: somebody who was not asked gets `consent_unknown`. */
export const toldCodes = Object.keys(kinds).filter((code) => code !== 'answer_foreign') as Exclude<
  ProblemCode,
  'answer_foreign'
>[];
