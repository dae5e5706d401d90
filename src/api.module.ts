/** The API process: one module per noun. */

import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { StandardSchemaSerializerInterceptor } from '@nestjs/common';
import { AuthModule } from './auth/auth.module.js';
import { CodecModule } from './codec/codec.module.js';
import type { Config } from './config/config.js';
import { CoreModule } from './core.module.js';
import { HealthModule } from './health/health.module.js';
import type { Log } from './log/log.js';
import { ProblemFilter } from './problems/problem.filter.js';
import { SchemaPipe } from './problems/schema.pipe.js';
import { ServersModule } from './servers/servers.module.js';
import { TemporalModule } from './temporal/temporal.module.js';

@Module({})
export class ApiModule {
  static with(config: Config, log: Log): DynamicModule {
    return {
      module: ApiModule,
      imports: [CoreModule.with(config, log), TemporalModule, HealthModule, AuthModule, ServersModule, CodecModule],
      providers: [
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_PIPE, useClass: SchemaPipe },
        { provide: APP_INTERCEPTOR, useClass: StandardSchemaSerializerInterceptor },
      ],
    };
  }
}
