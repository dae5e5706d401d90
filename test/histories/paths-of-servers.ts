/** Calls that end by what their server says, or does not say. */

import { accept, answer, asked, start } from '../harness/conversation.js';
import { calling, over, yes, type Path, type Paths } from './place.js';

const atOnce =
  (name: string): Path =>
  async ({ parley }) =>
    over(parley, await calling(parley, name));

export const pathsOfServers: Paths = {
  'completed at once': atOnce('completes'),
  failed: atOnce('fails'),
  unreachable: async ({ parley }) => over(parley, await calling(parley, 'completes', { server: 'absent' })),
  indeterminate: atOnce('is_silent'),
  polled: atOnce('polls'),
  'polled too often': atOnce('polls_on'),
  // Over HTTP the API knows the tools, and says so at once.
  'tool unknown': async ({ parley }) => over(parley, await start(parley, { server: 'notes', tool: 'is_not_there' })),
  'not found': atOnce('is_not_found'),
  'needs a capability': atOnce('needs_more'),
  'output invalid': atOnce('misfits'),
  'headers refused': atOnce('misheads'),
  'headers refused twice': atOnce('misheads_always'),
  'refused by the gate': async ({ parley }) => {
    const nobody = { policy: { allow: { form: false, url: false } } };
    return over(parley, await calling(parley, 'asks', nobody));
  },
  'too many rounds': async ({ parley }) => {
    const id = await calling(parley, 'asks_again');
    for (const round of [1, 2]) await accept(parley, await asked(parley, id, round), yes);
    return over(parley, id);
  },
  'asked again after a cancel': async ({ parley }) => {
    const id = await calling(parley, 'asks_again');
    await answer(parley, await asked(parley, id), { go: { action: 'cancel' } });
    return over(parley, id);
  },
  'state expired': async ({ parley }) => {
    const id = await calling(parley, 'forgets');
    await accept(parley, await asked(parley, id), yes);
    return over(parley, id);
  },
  'asked afresh': async ({ parley }) => {
    const id = await calling(parley, 'forgets', { server: 'reasking' });
    for (const round of [1, 3]) await accept(parley, await asked(parley, id, round), yes);
    return over(parley, id);
  },
  'asked afresh in vain': async ({ parley }) => {
    const id = await calling(parley, 'forgets_always', { server: 'reasking' });
    for (const round of [1, 3, 5]) await accept(parley, await asked(parley, id, round), yes);
    return over(parley, id);
  },
  'declined, and forgotten': async ({ parley }) => {
    const id = await calling(parley, 'forgets', { server: 'reasking' });
    await answer(parley, await asked(parley, id), { go: { action: 'decline' } });
    return over(parley, id);
  },
  'tool changed under the answer': async ({ parley }) => {
    const id = await calling(parley, 'drifts');
    await accept(parley, await asked(parley, id), yes);
    return over(parley, id);
  },
};
