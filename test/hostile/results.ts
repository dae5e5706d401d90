/** Results that are complete, or say so, or say nothing that anybody knows; and questions where only a result may be. */

import { done } from '../harness/scripted-server.js';
import { ask, checkbox, completed, misfit, refused, type HostileCase } from './case.js';

const state = { requestState: 's' };
const deepArray = '['.repeat(100_000) + ']'.repeat(100_000);

const resultTypes: HostileCase[] = [
  { name: 'result-type-missing', serves: { content: [] }, ends: { ...completed, result: { content: [] } }, legs: 1 },
  { name: 'result-type-missing-beside-requests', serves: { inputRequests: { go: checkbox } }, ends: completed, legs: 1 },
  refused('result-type-unknown', 'result_type_unknown', { resultType: 'maybe' }),
  refused('result-type-number', 'result_type_unknown', { resultType: 5 }),
  refused('result-type-null', 'result_type_unknown', { resultType: null, content: [] }),
  refused('result-type-task', 'result_type_unknown', { resultType: 'task', taskId: 't', status: 'working' }),
  refused('result-type-of-another-case', 'result_type_unknown', { resultType: 'Complete', content: [] }),
  { name: 'complete-with-stray-state', serves: { ...done, ...state }, ends: { ...completed, result: state }, legs: 1 },
  { name: 'complete-with-stray-requests', serves: { ...done, ...ask({ go: 5 }), ...done }, ends: completed, legs: 1 },
  { name: 'complete-without-content', serves: { resultType: 'complete' }, ends: completed, legs: 1 },
];

const outputs: HostileCase[] = [
  // ajv's own word: its validator would answer with a promise, which is never false.
  {
    name: 'output-schema-checked-later',
    definition: { outputSchema: { type: 'object', $async: true, required: ['x'] } },
    serves: { ...done, structuredContent: {} },
    ends: misfit,
    legs: 1,
  },
  {
    name: 'output-schema-with-outside-ref',
    definition: { outputSchema: { type: 'object', $ref: 'https://example.com/x' } },
    serves: { ...done, structuredContent: {} },
    ends: misfit,
    legs: 1,
  },
  {
    name: 'output-pattern-without-end',
    definition: { outputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } },
    serves: { ...done, structuredContent: { a: `${'a'.repeat(40)}!` } },
    ends: misfit,
    legs: 1,
  },
  {
    name: 'result-nested-100000-deep',
    serves: `{"resultType":"complete","content":[],"deep":${deepArray}}`,
    ends: misfit,
    legs: 1,
  },
  {
    name: 'result-with-huge-numbers',
    serves: '{"resultType":"complete","content":[],"n":[1e999,-1e999,18446744073709551617,1e-999]}',
    ends: completed,
    legs: 1,
  },
];

/** From methods that may not ask; the call goes to a registration whose server does it all the same. */
const askingElsewhere: HostileCase[] = ['discover', 'list'].map((what) => ({
  name: `question-on-${what}`,
  server: `asks-on-${what}`,
  serves: done,
  ends: { outcome: 'failed', reason: 'server_error' },
  legs: 0,
}));

export const results: readonly HostileCase[] = [...resultTypes, ...outputs, ...askingElsewhere];
