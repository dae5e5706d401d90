/**
 * Holds the store against Temporal: calls whose workflow is over or was never started are closed with what the ledger knows, calls that
 * are alive and not shown are asked to publish again, and the rest is reported. Safe beside running workflows and beside itself: nothing
 * is done before Temporal itself was asked about that very workflow, and no step overwrites what a workflow has published.
 */

import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { describeFault, Log } from '../log/log.js';
import { isInvocationId } from '../../domain/ids.js';
import type { UnaccountedLeg } from '../ledger/ledger.js';
import { openName, partsOf } from '../records/open-names.js';
import { isStoreOutage } from '../store/outage.js';
import { type Act, decide, type SuspicionCode } from './decide.js';
import { Home } from './home.js';
import { Legs } from './legs.js';
import { Looking } from './looking.js';
import { nudging } from './nudging.js';
import { Repairs } from './repairs.js';
import { countsOf, type Finding, type Report } from './report.js';
import type { Seen, SeenConsent } from './seen.js';
import { type Suspicion, Suspicions } from './suspicions.js';
import { isTemporalOutage, type KnownState, type RunningWorkflow, Workflows } from './workflows.js';

/** Calls looked at together. */
const atOnce = 20;

export interface RunOptions {
  /** Aborted when the process is told to stop. */
  readonly stop?: AbortSignal;
  /** Names of calls whose leg an operator has looked after: it is not reported any more. */
  readonly acknowledged?: ReadonlySet<string>;
  /** Told what the run is at: for somebody who waits for it. */
  readonly onStep?: (what: string) => void;
}

/** What one run has gathered so far. */
interface Run {
  readonly seen: { records: number; consents: number; workflows: number; ledgers: number };
  readonly repaired: Finding[];
  readonly left: Finding[];
  readonly before: ReadonlyMap<string, Suspicion>;
  readonly suspicions: Map<string, Suspicion>;
  readonly consents: ReadonlyMap<string, readonly SeenConsent[]>;
  readonly running: ReadonlyMap<string, RunningWorkflow>;
  /** Aborted when the process is told to stop. */
  readonly stop: AbortSignal;
}

@Injectable()
export class Reconciler {
  constructor(
    private readonly looking: Looking,
    private readonly legs: Legs,
    private readonly workflows: Workflows,
    private readonly repairs: Repairs,
    private readonly suspicions: Suspicions,
    private readonly home: Home,
    private readonly config: Config,
    private readonly log: Log,
  ) {}

  /** Never throws: what stands in its way is left, and in the report. */
  async run(options: RunOptions = {}): Promise<Report> {
    const startedAt = performance.now();
    const report: Report & Pick<Run, 'seen' | 'repaired' | 'left'> = {
      seen: { records: 0, consents: 0, workflows: 0, ledgers: 0 },
      repaired: [],
      left: [],
    };
    try {
      options.onStep?.('asking Temporal which namespace this is');
      if (await this.home.isHere()) await this.look(report, options);
      else report.left.push(about('other_namespace', 'the workflows of this store are in another Temporal namespace'));
    } catch (error) {
      report.left.push(this.outage(error));
    }
    const { seen, repaired, left } = report;
    const line = { event: 'reconciled', ...seen, repaired: countsOf(repaired), left: countsOf(left) };
    this.log[left.length > 0 ? 'warn' : 'info']({ ...line, ms: Math.round(performance.now() - startedAt) }, 'reconciled');
    return report;
  }

  private async look(
    report: Pick<Run, 'seen' | 'repaired' | 'left'>,
    { stop = new AbortController().signal, acknowledged = new Set(), onStep = () => {} }: RunOptions,
  ): Promise<void> {
    onStep('asking Temporal which calls run');
    // Temporal first: what is created while it is listed is then too young to be judged.
    const running = await this.workflows.running();
    onStep('looking at open questions');
    const consents = await this.looking.openConsents();
    const before = await this.suspicions.recall();
    const run: Run = { ...report, running, consents, before, suspicions: new Map(), stop };
    const looked = new Set<string>();
    onStep('looking at open calls');
    for await (const names of this.looking.openRecords()) {
      report.seen.records += names.length;
      await this.each(names, looked, run);
    }
    for (const list of consents.values()) report.seen.consents += list.length;
    report.seen.workflows = running.size;
    await this.each([...consents.keys(), ...running.keys()], looked, run);
    if (!stop.aborted) await this.suspicions.keep(run.suspicions, before);
    onStep('looking through the ledger');
    await this.ledgers(run, acknowledged);
  }

  private async ledgers(run: Run, acknowledged: ReadonlySet<string>): Promise<void> {
    const missing = new Set(acknowledged);
    const told = new Set<string>();
    const lookAt = async (leg: UnaccountedLeg): Promise<void> => {
      const { tenant, invocation } = leg;
      const name = openName(tenant, invocation);
      if (told.has(name)) return;
      told.add(name);
      const found = await this.guarded(tenant, invocation, run, () => this.legs.look(leg, acknowledged));
      if (found === undefined) return;
      run[found.is].push(found.finding);
      missing.delete(name);
    };
    for await (const { calls, legs } of this.legs.unaccounted()) {
      run.seen.ledgers += calls;
      for (let from = 0; from < legs.length && !run.stop.aborted; from += atOnce) {
        await Promise.all(legs.slice(from, from + atOnce).map(lookAt));
      }
      if (run.stop.aborted) return;
    }
    for (const name of missing) {
      const { tenant, id: invocation } = partsOf(name);
      run.left.push({ tenant, invocation, code: 'nothing_to_acknowledge', detail: 'no leg of this call is unaccounted for' });
    }
  }

  /** A call that cannot be repaired is left, and the next one has its turn. */
  private async guarded<T>(tenant: string, invocation: string, run: Run, repair: () => Promise<T>): Promise<T | undefined> {
    try {
      return await repair();
    } catch (error) {
      if (isTemporalOutage(error) || isStoreOutage(error)) throw error;
      this.log.error({ event: 'repair_failed', invocation, err: error }, 'a call could not be repaired');
      run.left.push({ tenant, invocation, code: 'repair_failed', detail: nameOf(error) });
      return undefined;
    }
  }

  private async each(names: readonly string[], looked: Set<string>, run: Run): Promise<void> {
    const fresh = names.filter((name) => !looked.has(name) && looked.add(name));
    for (let from = 0; from < fresh.length && !run.stop.aborted; from += atOnce) {
      await Promise.all(fresh.slice(from, from + atOnce).map((name) => this.one(name, run)));
    }
  }

  private async one(name: string, run: Run): Promise<void> {
    const { tenant, id } = partsOf(name);
    if (!isInvocationId(id)) return this.looking.pruneRecord(name);
    const listed = run.running.get(name);
    const open = run.consents.get(name) ?? [];
    const { graceMs } = this.config.reconcile;
    const guess: KnownState =
      listed === undefined
        ? { state: { is: 'gone' } }
        : { state: { is: 'running', status: listed.status }, startedAt: listed.startedAt };
    const stored = await this.looking.call(tenant, id, open);
    if (stored.record === null || stored.record.status === 'closed') await this.looking.pruneRecord(name);
    if (decide(seenOf(tenant, id, stored, guess), Date.now(), graceMs).is === 'none') return;

    await this.guarded(tenant, id, run, async () => {
      // Temporal first: a record read after it cannot be older than what Temporal says.
      const known = await this.workflows.stateOf(tenant, id);
      const seen = seenOf(tenant, id, await this.looking.call(tenant, id, await this.looking.stillOpen(tenant, open)), known);
      await this.act(name, seen, decide(seen, Date.now(), graceMs), run);
    });
  }

  private async act(name: string, seen: Seen, act: Act, run: Run): Promise<void> {
    const { tenant, invocation, record } = seen;
    const repaired = (code: string, detail: string) => run.repaired.push({ tenant, invocation, code, detail });
    const consents = seen.consents.filter(({ status }) => status === 'open');
    switch (act.is) {
      case 'none':
        return;
      case 'close': {
        if (record === null) return;
        const ending = await this.repairs.close(record, act.cause, consents);
        if (ending !== undefined) repaired('call_closed', `${ending.outcome}/${ending.reason}`);
        return;
      }
      case 'restore': {
        if (record === null) return;
        const { outcome, reason } = await this.repairs.restore(record, consents);
        repaired('call_restored', `${outcome}/${reason}`);
        return;
      }
      case 'settle':
        await this.repairs.settle(tenant, invocation, act.consents);
        repaired('consent_closed', act.consents.map(({ id, status }) => `${id} ${status}`).join(', '));
        return;
      case 'nudge':
        if (await this.nudge(name, seen, act.code, act.isSure, run)) repaired('workflow_nudged', act.code);
        return;
      case 'report':
        run.left.push({ tenant, invocation, code: act.code, detail: suspicionTexts[act.code] });
        return;
    }
    act satisfies never;
  }

  private async nudge(name: string, seen: Seen, code: SuspicionCode, isSure: boolean, run: Run): Promise<boolean> {
    const { tenant, invocation } = seen;
    const next = nudging(run.before.get(name), code, isSure, Date.now(), this.config.reconcile.graceMs);
    if (next.isDue) await this.workflows.refresh(tenant, invocation);
    run.suspicions.set(name, next.suspicion);
    if (next.isLeft) run.left.push({ tenant, invocation, code, detail: suspicionTexts[code] });
    return next.isDue && !next.isLeft;
  }

  private outage(error: unknown): Finding {
    if (isTemporalOutage(error)) return about('temporal_unavailable', 'Temporal did not answer; nothing more was changed');
    if (isStoreOutage(error)) return about('store_unavailable', 'the store did not answer; nothing more was changed');
    this.log.error({ event: 'fault', err: error }, 'the reconciler failed');
    return about('internal', `a mistake of Parley's own: ${nameOf(error)}`);
  }
}

const suspicionTexts: Readonly<Record<SuspicionCode, string>> = {
  record_lost: 'the workflow runs, the store has no record of the call, and the workflow does not publish it',
  record_closed: 'the workflow runs, and the record says that the call is over',
  consent_lost: 'the call waits for a person, and the store has no consent to show',
  answer_not_sent: 'a person has answered, and the call has not gone on: are workers running?',
  leg_not_begun: 'the call is to send, and no worker has begun the leg',
  leg_stuck: 'a leg was begun, its deadline is over, and the workflow has not noticed: are workers running?',
};

function seenOf(
  tenant: string,
  invocation: Seen['invocation'],
  stored: Awaited<ReturnType<Looking['call']>>,
  known: KnownState,
): Seen {
  const { state: workflow, startedAt } = known;
  return { tenant, invocation, ...stored, workflow, ...(startedAt !== undefined && { startedAt }) };
}

function about(code: string, detail: string): Finding {
  return { tenant: null, invocation: null, code, detail };
}

function nameOf(error: unknown): string {
  return JSON.stringify((describeFault(error) as { name?: string }).name ?? 'unknown');
}
