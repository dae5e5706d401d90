/** Calls whose server is registered otherwise by the time that they are answered. */

import { answer, asked } from '../harness/conversation.js';
import type { WrittenServer } from '../harness/parley.js';
import { calling, over, type Path, type Paths } from './place.js';

const changed =
  (server: string, to: Partial<WrittenServer>): Path =>
  async ({ parley, change }) => {
    const id = await calling(parley, 'asks', { server });
    const consent = await asked(parley, id);
    await change(server, to);
    const { body, text } = await answer(parley, consent, { go: { action: 'accept', content: { ok: true } } });
    if (body.code !== 'binding_lost') throw new Error(`an answer to what has changed was taken for ${text}`);
    return over(parley, id);
  };

export const pathsOfBindings: Paths = {
  'policy changed while parked': changed('versioned', { policy: { version: '2' } }),
};

/** The workflow does as it does for another policy, and only the reason differs. */
export const slowPathsOfBindings: Paths = {
  'access withdrawn while parked': changed('shared', { access: { subjects: ['user-2'] } }),
};
