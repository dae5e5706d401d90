/** One fault and its cells: a rig of its own, a call at every moment by every method, the fault, and what has become of each call. */

import { settled } from '../../tools/settle.js';
import { allowed, mayAskAgain, type FaultName } from './allowed.js';
import { Call } from './call.js';
import { faults, patienceMs } from './faults.js';
import { wrongWith } from './judge.js';
import { ledgersOf } from './ledger-rows.js';
import { methods, momentNames, moments, type CalledMethod, type Moment, type MomentName } from './moments.js';
import { Person } from './person.js';
import { legDeadlineMs, Rig } from './rig.js';

export interface Cell {
  readonly fault: FaultName;
  readonly moment: MomentName;
  readonly method: CalledMethod;
  /** Empty when the cell holds. */
  readonly wrong: readonly string[];
}

/** A call that is made when the fault is over completes: nobody had to lend a hand. */
const afterwardsMs = 60_000;
/** Then a leg's deadline would be near, and it is not the fault that ends it. */
const longestHoldMs = legDeadlineMs - 2_000;

/** A machine that is too busy passes a moment before the fault falls: then the fault is played again. */
const maxPlays = 3;

export async function cellsOf(fault: FaultName): Promise<Cell[]> {
  const names = momentNames.filter((moment) => allowed(fault, moment) !== undefined);
  for (let play = 1; ; play++) {
    const rig = await Rig.start(faults[fault].redisUnder);
    try {
      return await survive(rig, fault, names);
    } catch (error) {
      if (error instanceof TooSlow && play < maxPlays) continue;
      // What could not be tried has not held.
      const wrong = [`the fault could not be played: ${(error as Error).message}`];
      return names.flatMap((moment) => methods.map((method) => ({ fault, moment, method, wrong })));
    } finally {
      await rig.stop();
    }
  }
}

class TooSlow extends Error {}

async function survive(rig: Rig, name: FaultName, names: readonly MomentName[]): Promise<Cell[]> {
  const fault = faults[name];
  await fault.prepare?.(rig);
  const calls = names.flatMap((moment) => methods.map((method) => new Call(rig, method, { moment, policy: fault.policy })));
  const heldSince = await bringAll(calls);
  await fault.befall({
    rig,
    calls,
    release: async () => {
      if (performance.now() - heldSince > longestHoldMs) throw new TooSlow('the moments passed before the fault fell');
      rig.keeper.open();
      if (rig.mcp.isRunning) await rig.tellMcp('release');
    },
  });

  const after = methods.map((method) => new Call(rig, method));
  const person = new Person(rig, [...calls, ...after]);
  const ends = Promise.all(calls.map((call) => call.ended(fault.patienceMs ?? patienceMs)));
  const hand = await unhealed(after);
  const seen = await ends;
  person.leave();
  const rows = await rig.serverRows();
  const ledgers = await ledgersOf(rig, calls);
  return calls.map((call, index) => {
    const { method } = call;
    const moment = call.moment as MomentName;
    const own = rows.filter((row) => row.call === call.key);
    const endings = allowed(name, moment) ?? [];
    const known = { seen: seen[index], rows: own, ledger: ledgers[index] ?? [] };
    const wrong = wrongWith({ ...call.facts, ...known, endings, mayAskAgain: mayAskAgain(name) });
    return { fault: name, moment, method, wrong: [...wrong, ...hand] };
  });
}

/**
 * Whose leg has begun has no time to lose: they come last, and the longest way first.
 *
 * @returns since when the first of them may be held
 */
async function bringAll(calls: readonly Call[]): Promise<number> {
  const inTurn = [isPatient, (call: Call) => call.moment === 'retry_wire', () => true];
  const rest = new Set(calls);
  let since = 0;
  for (const isNow of inTurn) {
    const turn = [...rest].filter(isNow);
    if (isNow !== isPatient && since === 0) since = performance.now();
    for (const call of turn) rest.delete(call);
    await settled(turn.map((call) => call.bring()));
  }
  return since;
}

function isPatient({ moment }: Call): boolean {
  const { holds = [], wire }: Moment = moments[moment as MomentName];
  return wire === undefined && holds.every(({ point }) => !/^(begin:after|finish:)/.test(point));
}

/** @returns why the system needs a hand after the fault; nothing when a new call of every kind completes */
async function unhealed(after: readonly Call[]): Promise<string[]> {
  try {
    await Promise.all(after.map((call) => call.start()));
    const seen = await Promise.all(after.map((call) => call.ended(afterwardsMs)));
    const failed = seen.filter((each) => each?.outcome !== 'completed');
    return failed.map((each) => `a call after the fault is ${each?.outcome ?? each?.status ?? 'not shown'}`);
  } catch (error) {
    return [`a call after the fault could not be started: ${(error as Error).message}`];
  }
}
