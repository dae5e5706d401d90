/** What people do to a call: an operator terminates its workflow, a caller and a person click twice. */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { askedIn, type Call } from './call.js';
import type { Scene } from './faults.js';
import { idOf } from './faults-of-temporal.js';

export async function terminate(scene: Scene): Promise<void> {
  await terminateAll(scene);
  await scene.release();
}

/** Nobody is left who could tell how a leg ended that was on its way. */
export async function terminateAndKill(scene: Scene): Promise<void> {
  await terminateAll(scene);
  await scene.rig.worker.kill();
  await scene.release();
  await scene.rig.startWorker();
}

async function terminateAll({ rig, calls }: Scene): Promise<void> {
  await rig.withTemporal(async (temporal) => {
    await Promise.all(calls.map((call) => temporal.workflow.getHandle(idOf(call)).terminate('crash matrix')));
  });
}

/** Until a click has reached the API that it is made at. */
const clickMs = 500;

export async function doubleClick({ calls, release }: Scene): Promise<void> {
  const clicks = calls.map((call) => clickAgain(call));
  await delay(clickMs);
  await release();
  await Promise.all(clicks);
}

/** At the other replica: the start once more, and each answer once more, under its own key and with another answer under another key. */
async function clickAgain(call: Call): Promise<void> {
  const other = 1;
  const seen = await call.seen();
  const started = await call.postStart(other);
  if (started.body?.id !== call.id) throw new Error(`${call.key} was started twice (${started.status})`);
  const first = seen.status === 'awaiting_input' ? call.answer(askedIn(seen)) : undefined;
  const again = call.given.flatMap((given) => {
    const changed = { ...given, text: `${given.text}, changed`, key: randomUUID(), status: 0 };
    call.given.push(changed);
    return [given, changed].map(async (click) => {
      click.status = (await call.postAnswer(click, other)).status;
    });
  });
  await Promise.all([first, ...again]);
}
