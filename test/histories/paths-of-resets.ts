/** Calls that an operator resets to their first task: the run that begins again follows what the run before has sent. */

import { writeFile } from 'node:fs/promises';
import { accept, asked, auditOf, invocation } from '../harness/conversation.js';
import { until, type Parley } from '../harness/parley.js';
import { resetToFirstTask } from '../harness/temporal.js';
import { atTemporal, calling, over, yes, type Paths } from './place.js';

/** A question that is not `before`, which the run that was cut off has asked. */
const askedAnew = async (parley: Parley, id: string, before: { readonly id: string }, round: number): Promise<any> => {
  await until(async () => ![null, before.id].includes((await invocation(parley, id)).consent));
  return asked(parley, id, round);
};

export const pathsOfResets: Paths = {
  'reset while its retry is on the wire': async ({ parley }) => {
    const id = await calling(parley, 'asks_and_thinks', { server: 'unhurried' });
    await accept(parley, await asked(parley, id), yes);
    await until(async () => (await auditOf(parley, id)).some(({ type, leg }) => type === 'leg_submitted' && leg === 2));
    await atTemporal(parley, id, resetToFirstTask);
    return over(parley, id);
  },
  'reset while its second question waits': async ({ parley }) => {
    const id = await calling(parley, 'asks_twice');
    await accept(parley, await asked(parley, id), yes);
    const second = await asked(parley, id, 2);
    await atTemporal(parley, id, resetToFirstTask);
    await accept(parley, await askedAnew(parley, id, second, 2), yes);
    return over(parley, id);
  },
  'reset when its retry was turned away': async ({ parley, tokenFile }) => {
    await writeFile(tokenFile, 'stale');
    const id = await calling(parley, 'asks_and_guards', { server: 'guarded' });
    const first = await asked(parley, id);
    await accept(parley, first, yes);
    await until(async () => (await invocation(parley, id)).reason === 'reauthorization_required');
    await writeFile(tokenFile, 'good');
    await atTemporal(parley, id, resetToFirstTask);
    await accept(parley, await askedAnew(parley, id, first, 1), yes);
    return over(parley, id);
  },
};
