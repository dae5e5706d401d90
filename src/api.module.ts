/** The API process: one module per noun. */

import { type DynamicModule, Module, StandardSchemaSerializerInterceptor } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { CodecModule } from './codec/codec.module.js';
import type { Config } from './config/config.js';
import { ConsentsModule } from './consents/consents.module.js';
import { CoreModule } from './core.module.js';
import { HealthModule } from './health/health.module.js';
import { HoldsModule } from './holds/holds.module.js';
import { InvocationsModule } from './invocations/invocations.module.js';
import type { Log } from './log/log.js';
import { ProblemFilter } from './problems/problem.filter.js';
import { SchemaPipe } from './problems/schema.pipe.js';
import { ReceiptsModule } from './receipts/receipts.module.js';
import { ServersModule } from './servers/servers.module.js';
import { TemporalModule } from './temporal/temporal.module.js';

@Module({})
export class ApiModule {
  static with(config: Config, log: Log): DynamicModule {
    return {
      module: ApiModule,
      imports: [
        CoreModule.with(config, log),
        TemporalModule,
        HealthModule,
        AuthModule,
        ServersModule,
        InvocationsModule,
        ConsentsModule,
        HoldsModule,
        ReceiptsModule,
        AuditModule,
        CodecModule,
      ],
      providers: [
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_PIPE, useClass: SchemaPipe },
        { provide: APP_INTERCEPTOR, useClass: StandardSchemaSerializerInterceptor },
      ],
    };
  }
}
