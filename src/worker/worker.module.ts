/** The worker process: the activities, made of what the core provides. */

import { randomUUID } from 'node:crypto';
import { type DynamicModule, Module } from '@nestjs/common';
import { CallSteps } from '../../activities/call-steps.js';
import { LegPlanner } from '../../activities/leg-planner.js';
import { LegReader } from '../../activities/leg-reader.js';
import { SendLeg } from '../../activities/send-leg.js';
import { Audit } from '../audit/audit.js';
import { Config } from '../config/config.js';
import { CoreModule } from '../core.module.js';
import { Receipts } from '../crypto/receipts.js';
import { Sealer } from '../crypto/sealer.js';
import { Holds } from '../holds/holds.js';
import { Ledger } from '../ledger/ledger.js';
import { Log } from '../log/log.js';
import { Catalog } from '../mcp/catalog.js';
import { LegSender } from '../mcp/leg-sender.js';
import { LiveConnections } from '../mcp/live-connections.js';
import { Records } from '../records/records.js';
import { ToolLists } from '../servers/published-tools.js';
import { Registry } from '../servers/registry.js';
import { ReconcileModule } from '../reconcile/reconcile.module.js';
import { Temporal } from '../temporal/temporal.js';
import { TemporalModule } from '../temporal/temporal.module.js';

/** Of the slots of a worker's own queue, the rest is for legs. */
const maxParked = 900;

const connections = {
  provide: LiveConnections,
  inject: [Config, ToolLists, Log],
  useFactory: ({ temporal, connectionLeaseMs }: Config, lists: ToolLists, log: Log) =>
    new LiveConnections({
      queue: `${temporal.legsQueue}-${randomUUID()}`,
      leaseMs: connectionLeaseMs,
      maxParked,
      onDescribed: (server, description) =>
        void lists.publish(server, description).catch((err: unknown) => log.warn({ event: 'tools_unpublished', err })),
      log,
    }),
};

const planner = {
  provide: LegPlanner,
  inject: [Registry, Catalog, Sealer, Receipts, Holds],
  useFactory: (...deps: ConstructorParameters<typeof LegPlanner>) => new LegPlanner(...deps),
};

const reader = {
  provide: LegReader,
  inject: [Sealer, Ledger],
  useFactory: (...deps: ConstructorParameters<typeof LegReader>) => new LegReader(...deps),
};

const sendLeg = {
  provide: SendLeg,
  inject: [LegPlanner, Ledger, Audit, LegSender, LegReader, Config, Temporal, Log],
  // A row must outlive every workflow that could be reset and come to its leg again.
  useFactory: async (
    ...[p, l, a, s, r, { retentionMs }, temporal, log]: [LegPlanner, Ledger, Audit, LegSender, LegReader, Config, Temporal, Log]
  ) => new SendLeg(p, l, a, s, r, Math.max(retentionMs, await temporal.retentionMs()), log),
};

const steps = {
  provide: CallSteps,
  inject: [Records, Audit, Ledger, Registry],
  useFactory: (...deps: ConstructorParameters<typeof CallSteps>) => new CallSteps(...deps),
};

@Module({})
export class WorkerModule {
  static with(config: Config, log: Log): DynamicModule {
    return {
      module: WorkerModule,
      imports: [CoreModule.with(config, log), TemporalModule, ReconcileModule],
      providers: [{ provide: LegSender, useFactory: () => new LegSender() }, connections, planner, reader, sendLeg, steps],
    };
  }
}
