import { describe, expect, it } from 'vitest';
import { refusalCodes } from './consent.js';
import { problemCodes } from './codes.js';

describe('problem codes', () => {
  it('are a public contract: none vanishes and none changes its status', () => {
    const statuses = Object.entries(problemCodes).map(([code, { status }]) => `${status} ${code}`);
    expect(statuses.sort()).toEqual([
      '400 body_invalid',
      '400 idempotency_key_invalid',
      '400 idempotency_key_missing',
      '400 malformed_json',
      '400 query_invalid',
      '401 token_expired',
      '401 token_invalid',
      '401 token_missing',
      '403 scope_missing',
      '403 server_not_allowed',
      '403 subject_not_allowed',
      '404 answer_foreign',
      '404 consent_unknown',
      '404 invocation_unknown',
      '404 receipt_unknown',
      '404 result_absent',
      '404 route_unknown',
      '404 server_absent',
      '405 method_not_allowed',
      '409 answer_mismatch',
      '409 binding_lost',
      '409 consent_answered',
      '409 consent_withdrawn',
      '409 invocation_not_waiting',
      '410 consent_expired',
      '413 arguments_too_large',
      '413 body_too_large',
      '415 unsupported_media_type',
      '422 answer_invalid',
      '422 cursor_invalid',
      '422 idempotency_key_reused',
      '422 server_unknown',
      '422 text_not_unicode',
      '422 tool_unknown',
      '422 url_unknown',
      '500 internal',
      '502 reauthorization_required',
      '503 issuer_unavailable',
      '503 server_unavailable',
      '503 store_unavailable',
      '503 temporal_unavailable',
    ]);
  });

  it('say what is wrong and what to do next', () => {
    for (const { title, advice } of Object.values(problemCodes)) {
      expect(title).toMatch(/^[A-Z].*[^.]$/);
      expect(advice).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('have one for every reason an answer does not count', () => {
    for (const code of refusalCodes) expect(problemCodes).toHaveProperty(code);
  });
});
