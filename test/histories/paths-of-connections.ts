/** Calls of a stdio server: they live on the one process that asked, and on the worker that holds it. */

import { accept, acceptLater, asked, invocation, start } from '../harness/conversation.js';
import { until, type Parley } from '../harness/parley.js';
import { cancel, eventsOf, hold, over, release, type Paths } from './place.js';

const yes = { publish: { confirm: true } };
const publishing = (parley: Parley): Promise<string> =>
  start(parley, { server: 'notes', tool: 'publish', arguments: { title: 'news' } });

/** Ends the program that was started last for `server`. */
function killProgram(parley: Parley, server: string): void {
  const opened = parley.logs().flatMap((line) => (line.includes('"connection_opened"') ? [JSON.parse(line)] : []));
  process.kill(opened.findLast((event) => event.server === server).pid, 'SIGKILL');
}

/** A call that is answered when the worker that holds its process is gone and another has come, and is then due. */
async function answeredInVain(parley: Parley): Promise<string> {
  const id = await publishing(parley);
  const consent = await asked(parley, id);
  const holder = parley.process('worker');
  await parley.start('worker');
  await holder.kill();
  await acceptLater(parley, consent, yes);
  // Its second leg is for a worker that is no more.
  const legs = async (): Promise<number> =>
    (await eventsOf(parley, id)).filter((kind) => kind === 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED').length;
  await until(async () => (await legs()) === 3);
  return id;
}

export const pathsOfConnections: Paths = {
  'connection: answered': async ({ parley }) => {
    const id = await publishing(parley);
    await accept(parley, await asked(parley, id), yes);
    return over(parley, id);
  },
  'connection: lost while parked': async ({ parley }) => {
    const id = await publishing(parley);
    await asked(parley, id);
    killProgram(parley, 'notes');
    return over(parley, id);
  },
  'connection: lost with its worker': async ({ parley }) => {
    const id = await publishing(parley);
    await asked(parley, id);
    await parley.restartWorker('kill');
    return over(parley, id);
  },
  'connection: lost between polls': async ({ parley }) => {
    const id = await start(parley, { server: 'slow_notes', tool: 'build', arguments: { title: 'site' } });
    await until(async () => (await invocation(parley, id)).status === 'awaiting_server');
    killProgram(parley, 'slow_notes');
    return over(parley, id);
  },
  'connection: lost while held': async ({ parley }) => {
    const id = await publishing(parley);
    const consent = await asked(parley, id);
    await hold(parley, 'notes');
    await accept(parley, consent, yes);
    await until(async () => (await invocation(parley, id)).reason === 'server_held');
    killProgram(parley, 'notes');
    await over(parley, id);
    await release(parley, 'notes');
    return id;
  },
  'connection: answered when its worker is gone': async ({ parley }) => over(parley, await answeredInVain(parley)),
  'connection: cancelled when its worker is gone': async ({ parley }) => {
    const id = await answeredInVain(parley);
    await cancel(parley, id);
    return over(parley, id);
  },
};
