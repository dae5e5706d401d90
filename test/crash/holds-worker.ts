/** The points at which a worker of the matrix stops, by `--import`. */

import type { CloseRound, OpenRound } from '../../activities/contract.js';
import { CallSteps } from '../../activities/call-steps.js';
import { Ledger, type LegRef } from '../../src/ledger/ledger.js';
import { around, stopAt } from './hold-client.js';

around(Ledger.prototype, 'begin', {
  before: ({ invocation, leg }: LegRef) => stopAt('begin:before', invocation, leg),
  after: ({ invocation, leg }: LegRef) => stopAt('begin:after', invocation, leg),
});
around(Ledger.prototype, 'finish', {
  before: ({ invocation, leg }: LegRef) => stopAt('finish:before', invocation, leg),
  after: ({ invocation, leg }: LegRef) => stopAt('finish:after', invocation, leg),
});
around(CallSteps.prototype, 'openRound', {
  before: ({ call, round }: OpenRound) => stopAt('openRound:before', call.invocation, round),
});
around(CallSteps.prototype, 'closeRound', {
  before: ({ call, round }: CloseRound) => stopAt('closeRound:before', call.invocation, round),
});
