import { Module } from '@nestjs/common';
import { Home } from './home.js';
import { Legs } from './legs.js';
import { Looking } from './looking.js';
import { Reconciler } from './reconciler.js';
import { Repairs } from './repairs.js';
import { ReconcileSchedule } from './schedule.js';
import { Suspicions } from './suspicions.js';
import { Workflows } from './workflows.js';

/** Needs the core, and a `Client` of Temporal. */
@Module({
  providers: [Home, Legs, Looking, Reconciler, ReconcileSchedule, Repairs, Suspicions, Workflows],
  exports: [Reconciler, ReconcileSchedule, Repairs],
})
export class ReconcileModule {}
