/** Tells the calls that wait for a hold that it is lifted. */

import { Injectable } from '@nestjs/common';
import { Client, WorkflowNotFoundError } from '@temporalio/client';
import { attributes, resumeSignal } from '../../workflows/messages.js';
import { Log } from '../log/log.js';
import type { Held } from './holds.js';

@Injectable()
export class HeldCalls {
  constructor(
    private readonly temporal: Client,
    private readonly log: Log,
  ) {}

  /**
   * In the background, for there may be many. What Temporal's index does not know yet, and what cannot be told, looks again by itself,
   * a minute after it began to wait and then less and less often.
   */
  resume(held: Held): void {
    this.signalAll(held).catch((err: unknown) =>
      this.log.warn({ event: 'held_calls_not_told', ...held, err }, 'calls that were held look again by themselves'),
    );
  }

  private told(err: unknown, held: Held): void {
    if (err instanceof WorkflowNotFoundError) return;
    this.log.warn({ event: 'held_calls_not_told', ...held, err }, 'a call that was held looks again by itself');
  }

  private async signalAll(held: Held): Promise<void> {
    // Ids of servers and tenants have no quotes in them.
    const [about, value] = 'server' in held ? [attributes.server, held.server] : [attributes.tenant, held.tenant];
    const query = `ExecutionStatus = 'Running' AND ${attributes.status.name} = 'held' AND ${about.name} = '${value}'`;
    for await (const { workflowId } of this.temporal.workflow.list({ query })) {
      // One that has ended meanwhile needs to hear nothing, and must not keep the others from hearing.
      await this.temporal.workflow
        .getHandle(workflowId)
        .signal(resumeSignal)
        .catch((error: unknown) => this.told(error, held));
    }
  }
}
