/**
 * `npm run bench:gate [-- --quick]`: what the gate, the form model and the check of an answer take for a form of 64 fields, which is the
 * largest that the default policy lets pass. Prints a line for people and one of JSON; needs no services.
 */

import { readArgs } from '../tools/command-line.js';
import { checkAnswer } from '../domain/answers.js';
import type { RoundInput } from '../domain/form.js';
import { gate } from '../domain/gate.js';
import { defaultPolicy } from '../domain/policy.js';
import { answerOf64Fields, resultOf64Fields } from './form64.js';
import { quantilesOf, type Quantiles } from './stats.js';

/** Of the gate with the form model. */
const goalP99Ms = 1;

const usage = 'npm run bench:gate -- [--quick]';
const values = readArgs(usage, { quick: { type: 'boolean', default: false } });
const [warmUp, iterations] = values.quick ? [100, 200] : [2_000, 20_000];

const raw = resultOf64Fields();
const responses = { form: { action: 'accept', content: answerOf64Fields() } };
const declared = { elicitation: { form: {} } };

const gateAndForm: number[] = [];
const answer: number[] = [];
for (let n = -warmUp; n < iterations; n++) {
  const startedAt = performance.now();
  const inputs = gated();
  const gatedAt = performance.now();
  checked(inputs);
  const checkedAt = performance.now();
  if (n < 0) continue;
  gateAndForm.push(gatedAt - startedAt);
  answer.push(checkedAt - gatedAt);
}

const figures = { gateAndForm: quantilesOf(gateAndForm, 3), answer: quantilesOf(answer, 3) };
const isMet = figures.gateAndForm.p99 < goalP99Ms;
const outcome = `p99 < ${goalP99Ms}: ${isMet ? 'met' : 'missed'}`;
console.log(`gate and form model: ${told(figures.gateAndForm)}, goal ${outcome}; answer: ${told(figures.answer)}`);
console.log(JSON.stringify({ ...figures, goalP99Ms, isMet, fields: 64, iterations, node: process.version }));

function gated(): readonly RoundInput[] {
  const verdict = gate('tools/call', raw, declared, defaultPolicy);
  if (verdict.is === 'refused') throw new Error(`refused: ${verdict.code} at ${verdict.path}`);
  return verdict.round.inputs;
}

function checked(inputs: readonly RoundInput[]): void {
  const check = checkAnswer(inputs, responses, defaultPolicy.maxAnswerBytes);
  if (check.is === 'invalid') throw new Error(`invalid: ${JSON.stringify(check.errors)}`);
}

function told({ p50, p99 }: Quantiles): string {
  return `p50 ${p50} ms, p99 ${p99} ms`;
}
// Two hundred measures have no percentile worth failing for.
if (!isMet && !values.quick) process.exitCode = 1;
