/** For files whose tests each start a Parley, or services, of their own: whatever a test started is stopped after it, latest first. */

import { afterEach } from 'vitest';
import { startParley, type Parley, type ParleyOptions } from './parley.js';

export interface Undo {
  push(step: () => Promise<unknown>): void;
  parleyOf(options?: ParleyOptions): Promise<Parley>;
}

export function undoAfterEach(): Undo {
  const steps: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const step of steps.splice(0).toReversed()) await step();
  });
  return {
    push: (step) => void steps.push(step),
    parleyOf: async (options = {}) => {
      const parley = await startParley(options);
      steps.push(() => parley.stop());
      return parley;
    },
  };
}
