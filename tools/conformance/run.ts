/**
 * `npm run conformance`: has the official conformance suite judge Parley, and the server that its tests call, and writes
 * docs/conformance.md; with `--check` the page is left alone and must be what would be written. All scenarios are begun at once, since
 * Parley reads its servers when it starts, and then gone through one after the other.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startConformanceServer } from '../../examples/conformance-server/server.js';
import { readArgs } from '../command-line.js';
import type { Environment } from '../processes.js';
import { root } from '../root.js';
import { findOrBringRedis, findOrBringTemporal } from '../services.js';
import { settled } from '../settle.js';
import { conversations, type ScenarioName } from './conversations.js';
import { Desk, type Introduction } from './desk.js';
import { expectations, notApplicable, serverExpectations } from './expectations.js';
import { conformancePage } from './page.js';
import { Referee } from './referee.js';
import { UnderTest } from './under-test.js';
import { verdictOn, type Verdict } from './verdict.js';

const scenarios = Object.keys(conversations) as ScenarioName[];
const page = join(root, 'docs', 'conformance.md');

try {
  const values = readArgs('npm run conformance -- [--check]', { check: { type: 'boolean', default: false } });
  process.exit((await run(values.check)) ? 0 : 1);
} catch (error) {
  say((error as Error).message);
  process.exit(1);
}

async function run(isCheck: boolean): Promise<boolean> {
  const referee = await Referee.bring(say);
  const others = (await referee.clientScenarios()).filter((name) => !Object.hasOwn(conversations, name));
  const unexplained = unexplainedAmong(others);
  const servers = await judgedServers(referee);
  const verdicts = await withServices((services) => judged(referee, services));
  const all = [...verdicts, ...servers];

  for (const { scenario, passed, judged: of, faults } of all) {
    say(`${scenario.padEnd(46)} ${String(passed).padStart(2)} of ${of}`);
    for (const fault of faults) say(`  ${fault}`);
  }
  for (const name of unexplained) say(`${name}: not run, and nothing says why`);

  const written = conformancePage(referee.version, verdicts, servers, others);
  const isCurrent = !isCheck || written === (await readFile(page, 'utf8').catch(() => ''));
  if (!isCheck) await writeFile(page, written);
  if (!isCurrent)
    say('docs/conformance.md is not what this run would write: run `npm run conformance`, and look at what changes');
  return isCurrent && unexplained.length === 0 && all.every(({ faults }) => faults.length === 0);
}

/** The suite on the server that the tests call through Parley: one scenario after the other, since each is over in a moment. */
async function judgedServers(referee: Referee): Promise<readonly Verdict[]> {
  const server = await startConformanceServer();
  try {
    const verdicts: Verdict[] = [];
    for (const name of await referee.askingServerScenarios()) {
      const checks = await referee.judgeServer(name, server.url);
      verdicts.push(verdictOn(name, checks, serverExpectations[name] ?? { passed: 0 }, undefined));
    }
    return verdicts;
  } finally {
    await server.close();
  }
}

async function withServices<T>(act: (services: Environment) => Promise<T>): Promise<T> {
  const [temporal, redis] = await settled([findOrBringTemporal({ log: say }), findOrBringRedis({ log: say })]);
  try {
    return await act({ TEMPORAL_ADDRESS: temporal.address, REDIS_URL: redis.address });
  } finally {
    await Promise.all([temporal.stop(), redis.stop()]);
  }
}

async function judged(referee: Referee, services: Environment): Promise<readonly Verdict[]> {
  const desk = await Desk.open();
  try {
    const trials = scenarios.map((scenario) => referee.judge(scenario, desk.url));
    // One that ends before its client came to the desk would be waited for in vain.
    const early = trials.map(async (trial, index) => {
      await trial;
      throw new Error(`the referee of ${scenarios[index]} has judged before any call`);
    });
    const introductions = await Promise.race([desk.introductions(scenarios), ...early]);
    const callersFaults = await haveCallsMade(introductions, services, desk);
    const checks = await settled(trials);
    return scenarios.map((name, index) => verdictOn(name, checks[index] ?? [], expectations[name], callersFaults.get(name)));
  } finally {
    desk.close();
  }
}

/** @returns what a caller saw and must not see, by scenario */
async function haveCallsMade(
  introductions: readonly Introduction[],
  services: Environment,
  desk: Desk,
): Promise<ReadonlyMap<string, string>> {
  const faults = new Map<string, string>();
  const urls = new Map(introductions.map(({ scenario, serverUrl }) => [scenario, serverUrl]));
  const parley = await UnderTest.start(urls, services);
  try {
    for (const name of scenarios) {
      const wishes = introductions.find(({ scenario }) => scenario === name)?.context ?? {};
      await conversations[name](parley.against(name), wishes).catch((error: Error) => faults.set(name, error.message));
      desk.dismiss(name, !faults.has(name));
    }
    return faults;
  } finally {
    await parley.stop();
  }
}

/** A scenario without a reason would be skipped in silence; a reason without a scenario is stale. */
function unexplainedAmong(others: readonly string[]): string[] {
  return [
    ...others.filter((name) => !notApplicable.some((rule) => rule.scenarios.test(name))),
    ...notApplicable.filter((rule) => !others.some((name) => rule.scenarios.test(name))).map((rule) => String(rule.scenarios)),
  ];
}

function say(line: string): void {
  console.log(`conformance | ${line}`);
}
