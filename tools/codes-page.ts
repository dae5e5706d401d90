/** docs/codes.md, made from the tables that the code itself uses, so that no code is missing from it and none has another meaning. */

import { answerFaults, type AnswerFaultCode } from '../domain/answers.js';
import { problemCodes, toldCodes } from '../domain/codes.js';
import { refusalCodes } from '../domain/consent.js';
import { gateRefusals } from '../domain/gate.js';
import { outcomes } from '../domain/outcome.js';
import { reasons, waits } from '../domain/reasons.js';
import { fieldFaults } from '../src/problems/field-faults.js';

/** Of one value of an answer. The reply's own sentence also names the bound or the format. */
const valueFaults: Readonly<Record<Exclude<AnswerFaultCode, keyof typeof answerFaults>, string>> = {
  type_wrong: 'has another JSON type than the field; nothing is converted',
  text_too_short: 'has fewer characters (Unicode code points) than `minLength`',
  text_too_long: 'has more characters (Unicode code points) than `maxLength`',
  format_wrong: 'is not of the format; a date-time is RFC 3339 and has `Z` or an offset',
  text_not_unicode: 'holds half of a surrogate pair',
  number_too_small: 'is less than `minimum`',
  number_too_large: 'is more than `maximum`',
  option_unknown: 'is none of the options',
  items_too_few: 'holds fewer options than `minItems`',
  items_too_many: 'holds more options than `maxItems`, or than there are',
  items_repeated: 'holds an option twice',
};

export function codesPage(): string {
  const problems = toldCodes.map((code) => ({ code, ...problemCodes[code] }));
  return [
    '<!-- Written by `npm run docs:codes` from the tables in domain/. Do not edit. -->',
    '# Codes',
    'Codes are stable and for programs; sentences are for people and may change.',
    '## Problems of the API',
    '`code` of a reply with `Content-Type: application/problem+json` (RFC 9457); `type` is `urn:parley:problem:` and the code.',
    table(
      ['status', 'code', 'what is wrong', 'what to do next'],
      problems
        .toSorted((one, other) => one.status - other.status)
        .map((each) => [each.status, quoted(each.code), each.title, each.advice]),
    ),
    '## Members and parameters',
    '`errors[].code` of the problems `body_invalid` and `query_invalid`; `errors[].pointer` says where (RFC 6901, from the root of the body, or the parameter).',
    table(
      ['code', 'the member or parameter there'],
      Object.entries(fieldFaults).map(([code, sentence]) => [quoted(code), sentence]),
    ),
    '## Outcomes and their reasons',
    '`outcome` and `reason` of an invocation. What an operator does about each outcome is in [operations.md](operations.md).',
    table(
      ['outcome', 'reason', 'what happened'],
      outcomes.flatMap((outcome) => [
        ...Object.entries(reasons)
          .filter(([, kind]) => kind.outcome === outcome)
          .map(([reason, { meaning }]) => [quoted(outcome), quoted(reason), meaning]),
        ...(outcome === 'refused' ? [[quoted(outcome), 'a code of the gate', 'See the next table.']] : []),
      ]),
    ),
    '`reason` of an invocation that is still open and waits for somebody to act; `POST /v1/invocations/{id}/resume` goes on.',
    table(
      ['reason', 'what it waits for'],
      Object.entries(waits).map(([reason, meaning]) => [quoted(reason), meaning]),
    ),
    '## The gate',
    '`reason` of an invocation whose outcome is `refused` because nobody may be shown what the server asks.',
    table(
      ['code', 'what is wrong with the round'],
      Object.entries(gateRefusals).map(([code, sentence]) => [quoted(code), sentence]),
    ),
    '## Answers',
    '`errors[].code` of the problem `answer_invalid`; `errors[].pointer` says where (RFC 6901, from the root of the body).',
    table(
      ['code', 'the response, member or value there'],
      Object.entries({ ...answerFaults, ...valueFaults }).map(([code, sentence]) => [quoted(code), sentence]),
    ),
    '## Refused answers on the audit record',
    '`code` of an audit event `answer_refused`. `answer_foreign` is an answer by somebody who was not asked, who is told `consent_unknown`.',
    [...refusalCodes, 'answer_invalid', 'binding_lost'].map(quoted).join(' · '),
  ]
    .join('\n\n')
    .concat('\n');
}

function quoted(code: string): string {
  return `\`${code}\``;
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'--|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
