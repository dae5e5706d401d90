import { Global, Module } from '@nestjs/common';
import { Client } from '@temporalio/client';
import { Temporal } from './temporal.js';

/** Gives `Client` to whoever starts, signals or asks workflows. */
@Global()
@Module({
  providers: [Temporal, { provide: Client, inject: [Temporal], useFactory: ({ client }: Temporal) => client }],
  exports: [Temporal, Client],
})
export class TemporalModule {}
