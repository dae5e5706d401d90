/** The API's connection to Temporal. It is made on first use, so that the API starts, and reads, while Temporal is away. */

import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Client, Connection } from '@temporalio/client';
import { Config } from '../config/config.js';
import { KeyRingCodec } from '../crypto/codec.js';
import { dataConverterFor } from '../crypto/data-converter.js';
import { connectionOptions } from './connection-options.js';

const probeDeadlineMs = 2_000;

@Injectable()
export class Temporal implements OnApplicationShutdown {
  readonly client: Client;
  private readonly connection: Connection;
  private readonly namespace: string;

  constructor(config: Config, codec: KeyRingCodec) {
    this.namespace = config.temporal.namespace;
    this.connection = Connection.lazy(connectionOptions(config.temporal));
    this.client = new Client({
      connection: this.connection,
      namespace: this.namespace,
      dataConverter: dataConverterFor(codec),
    });
  }

  /** Whether Temporal answers and knows the namespace. */
  async isReachable(): Promise<boolean> {
    const { namespace } = this;
    return this.connection
      .withDeadline(Date.now() + probeDeadlineMs, () => this.connection.workflowService.describeNamespace({ namespace }))
      .then(
        () => true,
        () => false,
      );
  }

  /** How long Temporal keeps a workflow that is closed: so long it can be reset, and run again from any point. */
  async retentionMs(): Promise<number> {
    const { namespace } = this;
    const ask = () => this.connection.workflowService.describeNamespace({ namespace });
    const { config } = await this.connection.withDeadline(Date.now() + probeDeadlineMs, ask);
    return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1_000;
  }

  /** Nest calls it when the listener is closed and nobody asks any more. */
  async onApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }
}
