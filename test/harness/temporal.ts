/** The run's Temporal, for what only Temporal knows of a call. */

import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import { inject } from 'vitest';
import { workflowId, type InvocationId } from '../../domain/ids.js';

/** A client without codec: what it reads is what anybody at Temporal could read. Close its `connection`. */
export async function temporalClient(): Promise<Client> {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  return new Client({ connection });
}

/** Says something to a call of tenant `t1` behind the API's back, as anybody who operates Temporal may. */
export async function signal(id: string, definition: SignalDefinition): Promise<void> {
  const temporal = await temporalClient();
  await temporal.workflow.getHandle(workflowId('t1', id as InvocationId)).signal(definition);
  await temporal.connection.close();
}

/** `temporal workflow reset` to the first task: a new run of a call of tenant `t1` begins, and whatever the old one waits for reports to nobody. */
export async function resetToFirstTask(handle: WorkflowHandle): Promise<void> {
  const { events } = await handle.fetchHistory();
  await handle.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: handle.workflowId },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: events!.find((event) => event.workflowTaskCompletedEventAttributes)!.eventId!,
  });
}
