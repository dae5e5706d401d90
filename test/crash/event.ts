/** One fault and its cells: a rig of its own, a call at every moment by every method, the fault, and what has become of each call. */

import { settled } from '../../tools/settle.js';
import { allowed, type FaultName } from './allowed.js';
import { Call } from './call.js';
import { faults, patienceMs } from './faults.js';
import { wrongWith } from './judge.js';
import { methods, momentNames, moments, type CalledMethod, type Moment, type MomentName } from './moments.js';
import { Rig } from './rig.js';

export interface Cell {
  readonly fault: FaultName;
  readonly moment: MomentName;
  readonly method: CalledMethod;
  /** Empty when the cell holds. */
  readonly wrong: readonly string[];
}

/** A call that is made when the fault is over completes: nobody had to lend a hand. */
const afterwardsMs = 30_000;

export async function cellsOf(fault: FaultName): Promise<Cell[]> {
  const names = momentNames.filter((moment) => allowed(fault, moment) !== undefined);
  const rig = await Rig.start();
  try {
    return await survive(rig, fault, names);
  } catch (error) {
    // What could not be tried has not held.
    const wrong = [`the fault could not be played: ${(error as Error).message}`];
    return names.flatMap((moment) => methods.map((method) => ({ fault, moment, method, wrong })));
  } finally {
    await rig.stop();
  }
}

async function survive(rig: Rig, name: FaultName, names: readonly MomentName[]): Promise<Cell[]> {
  const fault = faults[name];
  const calls = names.flatMap((moment) => methods.map((method) => new Call(rig, method, moment, fault.policy)));
  // Who is on the wire, or begun, has no time to lose: they come last.
  const isShort = ({ momentName }: Call) => isPressed(momentName as MomentName);
  await settled(calls.filter((call) => !isShort(call)).map((call) => call.bring()));
  await settled(calls.filter(isShort).map((call) => call.bring()));

  const release = async (): Promise<void> => {
    rig.keeper.open();
    if (rig.mcp.isRunning) await rig.tellMcp('release');
  };
  await fault.befall({ rig, calls, release });

  const ends = Promise.all(calls.map((call) => call.finish(fault.patienceMs ?? patienceMs)));
  const healed = await unhealed(rig);
  const seen = await ends;
  const rows = await rig.serverRows();
  return calls.map((call, index) => {
    const { id: invocation, method, given, key } = call;
    const moment = call.momentName as MomentName;
    const own = rows.filter((row) => row.call === key);
    const facts = { fault: name, moment, method, invocation, seen: seen[index], rows: own, given };
    return { fault: name, moment, method, wrong: [...wrongWith(facts), ...healed] };
  });
}

function isPressed(name: MomentName): boolean {
  const { holds = [], wire }: Moment = moments[name];
  return wire !== undefined || holds.some(({ point }) => point !== 'begin:before');
}

/** @returns why the system needs a hand after the fault; nothing when a new call of every kind completes */
async function unhealed(rig: Rig): Promise<string[]> {
  try {
    const after = methods.map((method) => new Call(rig, method, 'after'));
    await Promise.all(after.map((call) => call.start()));
    const seen = await Promise.all(after.map((call) => call.finish(afterwardsMs)));
    const failed = seen.filter((each) => each?.outcome !== 'completed');
    return failed.map((each) => `a call after the fault is ${each?.outcome ?? each?.status ?? 'not shown'}`);
  } catch (error) {
    return [`a call after the fault could not be started: ${(error as Error).message}`];
  }
}
