/** A reply that is here must not be lost because a store is away: keep trying for as long as the activity may run. */

import { setTimeout as delay } from 'node:timers/promises';
import { LedgerFault } from '../src/ledger/ledger.js';

const firstWaitMs = 100;
// A store that comes back is noticed within a few seconds.
const maxWaitMs = 5_000;
// Below the five minutes that the activity has beyond the leg's own deadline.
const patienceMs = 4 * 60_000;

/** @throws what `write` threw last, when the patience is spent; a {@link LedgerFault} at once, for no store that comes back heals it */
export async function untilStored(write: () => Promise<void>): Promise<void> {
  const giveUpAt = Date.now() + patienceMs;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, maxWaitMs)) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof LedgerFault || Date.now() + waitMs > giveUpAt) throw error;
      await delay(waitMs);
    }
  }
}
