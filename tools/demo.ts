/**
 * `npm run demo`: one call, from the question to the outcome. The state lives in `.parley/`: what was parked before Ctrl-C is shown
 * again at the next start and can still be answered. With `--auto` a scripted person answers, nothing is kept, and the last line is
 * one JSON object.
 */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helpIfAsked } from './command-line.js';
import {
  consentOf,
  curlLine,
  effectsOf,
  endOf,
  fieldLine,
  giveAnswer,
  openConsents,
  startCall,
  visible,
  type EndedCall,
  type OpenConsent,
} from './demo-call.js';
import { launch, launcherUsage, readOptions, runUntilStopped, say, type LauncherOptions } from './launcher.js';
import { anyPorts } from './ports.js';
import { startStack, type Stack } from './stack.js';
import { until } from './until.js';

const usage = `npm run demo -- [options]\n  --auto                 a scripted person answers\n${launcherUsage}`;

helpIfAsked(usage);
let options: LauncherOptions;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${(error as Error).message}\n${usage}`);
  process.exit(2);
}

try {
  process.exit(options.auto ? await scripted(options) : await interactive(options));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}

async function interactive(wish: LauncherOptions): Promise<number> {
  const stack = await launch(wish);
  try {
    return await runUntilStopped(stack, present(stack));
  } finally {
    await stack.stop();
  }
}

async function present(stack: Stack): Promise<void> {
  if (stack.uiUrl !== undefined) say(`Temporal UI: ${stack.uiUrl}`);
  const waiting = await openConsents(stack);
  if (waiting.length > 0) say(`${waiting.length} parked before this start:`);
  for (const consent of waiting) show(stack, consent);
  const invocation = await startCall(stack, randomUUID());
  say(`an agent called deploy: ${invocation}`);
  show(stack, await consentOf(stack, invocation));
}

/** Prints the question, and the outcome when there is one. */
function show(stack: Stack, consent: OpenConsent): void {
  const { title } = consent.server;
  console.log(`\n  ${title} asks before it goes on with ${consent.call.name} ${visible(consent.call.arguments)}:`);
  for (const [key, { message, fields }] of Object.entries(consent.inputs)) {
    console.log(`    ${visible(key)}: ${visible(message)}`);
    for (const field of fields) console.log(`      ${fieldLine(field)}`);
  }
  console.log(`\n  Answer it from another terminal, in this folder:\n\n    ${curlLine(stack, consent)}\n`);
  void announceEnd(stack, consent.invocation);
}

async function announceEnd(stack: Stack, invocation: string): Promise<void> {
  const days = 24 * 3600 * 1000;
  const end = await until(() => endOf(stack, invocation), 14 * days, 'an outcome', 500);
  say(`${invocation}: ${end.outcome} (${end.reason}) after ${end.leg} legs and ${end.round} rounds: ${visible(end.result)}`);
  say('Ctrl-C stops everything');
}

async function scripted(wish: LauncherOptions): Promise<number> {
  const stateDir = await mkdtemp(join(tmpdir(), 'parley-demo-'));
  const startedAt = performance.now();
  const since = (mark: number): number => Math.round(performance.now() - mark);
  let stack: Stack | undefined;
  try {
    stack = await startStack({ ...wish, log: say, stateDir, isKept: false, ports: anyPorts, space: `demo-${randomUUID()}` });
    const start = since(startedAt);
    const askedAt = performance.now();
    const invocation = await startCall(stack, randomUUID());
    const consent = await consentOf(stack, invocation);
    const ask = since(askedAt);
    say(`asked: ${visible(consent.inputs)}`);
    const answeredAt = performance.now();
    await giveAnswer(stack, consent);
    const end: EndedCall = await until(() => endOf(stack!, invocation), 60_000, 'an outcome');
    const answer = since(answeredAt);
    say(`result: ${visible(end.result)}`);
    const effects = await effectsOf(stack);
    await stack.stop();
    stack = undefined;
    const ms = { start, ask, answer, total: since(startedAt) };
    console.log(JSON.stringify({ outcome: end.outcome, legs: end.leg, rounds: end.round, effects, ms }));
    return end.outcome === 'completed' && effects === 1 ? 0 : 1;
  } finally {
    await stack?.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}
