/** The reconciler's words with Temporal. Its index of running workflows lags, so it only points; what is done rests on `stateOf`. */

import { Injectable } from '@nestjs/common';
import { Client, isGrpcServiceError, WorkflowNotFoundError, type WorkflowExecutionInfo } from '@temporalio/client';
import { type InvocationId, isInvocationId, workflowId } from '../../domain/ids.js';
import type { Ending } from '../../domain/judge.js';
import { attributes, invocationWorkflow, refreshSignal } from '../../workflows/messages.js';
import { Config } from '../config/config.js';
import { partsOf } from '../records/open-names.js';
import type { WorkflowState } from './seen.js';

const callDeadlineMs = 5_000;
/** Of the whole list: a thousand workflows take a fraction of a second. */
const listDeadlineMs = 5 * 60_000;
const pageSize = 1_000;

export interface RunningWorkflow {
  /** As the workflow shows it to operators. */
  readonly status: string | undefined;
  readonly startedAt: number;
}

export type KnownState = { readonly state: WorkflowState; readonly startedAt?: number };

/** Only these say that a workflow is over; whatever else there may be counts as alive. */
const over: readonly string[] = ['FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT'];

@Injectable()
export class Workflows {
  constructor(
    private readonly temporal: Client,
    private readonly config: Config,
  ) {}

  /** Id of the namespace, which another one of the same name would not have. */
  async namespaceId(): Promise<string> {
    const { namespace } = this.config.temporal;
    const ask = () => this.temporal.workflowService.describeNamespace({ namespace });
    const { namespaceInfo } = await this.within(callDeadlineMs, ask);
    return namespaceInfo?.id ?? '';
  }

  /** The running invocations of this task queue, by workflow id, as far as Temporal's index knows. */
  async running(): Promise<Map<string, RunningWorkflow>> {
    const queue = this.config.temporal.callsQueue.replaceAll('"', '');
    const query = `WorkflowType = "${invocationWorkflow}" AND TaskQueue = "${queue}" AND ExecutionStatus = "Running"`;
    const found = new Map<string, RunningWorkflow>();
    await this.within(listDeadlineMs, async () => {
      for await (const each of this.temporal.workflow.list({ query, pageSize })) {
        if (isInvocationId(partsOf(each.workflowId).id)) found.set(each.workflowId, shownOf(each));
      }
    });
    return found;
  }

  /** As Temporal itself knows it. */
  async stateOf(tenant: string, invocation: InvocationId): Promise<KnownState> {
    try {
      const seen = await this.within(callDeadlineMs, () => this.handle(tenant, invocation).describe());
      const { status, startedAt } = shownOf(seen);
      const { name } = seen.status;
      if (name === 'COMPLETED') return { state: { is: 'completed' }, startedAt };
      return { state: over.includes(name) ? { is: 'ended' } : { is: 'running', status }, startedAt };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return { state: { is: 'gone' } };
      throw error;
    }
  }

  /** Of a completed workflow. */
  async endingOf(tenant: string, invocation: InvocationId): Promise<Ending> {
    return this.within(callDeadlineMs, () => this.handle(tenant, invocation).result() as Promise<Ending>);
  }

  /** Asks a call that is alive to publish what it knows again. */
  async refresh(tenant: string, invocation: InvocationId): Promise<void> {
    await this.within(callDeadlineMs, () => this.handle(tenant, invocation).signal(refreshSignal));
  }

  private handle(tenant: string, invocation: InvocationId) {
    return this.temporal.workflow.getHandle(workflowId(tenant, invocation));
  }

  private within<T>(ms: number, ask: () => Promise<T>): Promise<T> {
    return this.temporal.withDeadline(Date.now() + ms, ask);
  }
}

/** Whether an error says that Temporal did not answer. */
export function isTemporalOutage(error: unknown): boolean {
  return isGrpcServiceError(error) || (error instanceof Error && isGrpcServiceError(error.cause));
}

function shownOf({ typedSearchAttributes, startTime }: Pick<WorkflowExecutionInfo, 'typedSearchAttributes' | 'startTime'>) {
  const status = typedSearchAttributes.get(attributes.status);
  return { status, startedAt: startTime.getTime() };
}
