/** How a call ends by what the workflow hears, not by what a leg of it came to. */

import type { Ending } from '../domain/judge.js';
import type { CancelRequest } from './messages.js';

export const cancelled: Ending = { outcome: 'cancelled', reason: 'cancel_requested' };
export const callDeadline: Ending = { outcome: 'expired', reason: 'call_deadline' };
export const ledgerLost: Ending = { outcome: 'binding_lost', reason: 'ledger_lost' };
export const connectionLost: Ending = { outcome: 'binding_lost', reason: 'connection_lost' };

export function cancelledBy({ consent }: CancelRequest): Ending {
  return consent === undefined ? cancelled : { outcome: 'cancelled', reason: 'consent_withdrawn' };
}
