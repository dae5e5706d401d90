/**
 * The API's words with an invocation's workflow: start, signal, ask. Each within its own deadline, so that no request hangs on a
 * Temporal that is away. What is signalled is durable from the moment Temporal has stored it.
 */

import { Injectable } from '@nestjs/common';
import {
  Client,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { Answer, BoundCall } from '../../domain/call.js';
import type { Verdict } from '../../domain/consent.js';
import { type InvocationId, workflowId } from '../../domain/ids.js';
import {
  answerSignal,
  attributes,
  type CancelRequest,
  cancelSignal,
  invocationWorkflow,
  refreshSignal,
  resumeSignal,
  verdictQuery,
} from '../../workflows/messages.js';
import { Config } from '../config/config.js';
import { Log } from '../log/log.js';
import { Problem } from '../problems/problem.js';

/** Generous for a write to Temporal, short enough for a caller to wait and repeat. */
const writeDeadlineMs = 3_000;
/** A verdict needs a worker; a caller is better off with "pending" than with a longer wait. */
const verdictDeadlineMs = 1_500;
const retryAfterSeconds = 2;

/** Search attributes of type Keyword are indexed in columns of 255 characters. */
const maxKeywordLength = 200;
/** Bytes, a bound of Temporal's. */
const maxFairnessKeyLength = 64;

/** `gone`: the workflow has ended, or was never started. */
export type Delivery = 'sent' | 'gone';

@Injectable()
export class CallWorkflows {
  constructor(
    private readonly temporal: Client,
    private readonly config: Config,
    private readonly log: Log,
  ) {}

  /**
   * Safe to repeat: an id is started once.
   *
   * @throws {Problem} `temporal_unavailable`: it may or may not be started, and the caller may repeat
   */
  async start(call: BoundCall): Promise<void> {
    const options: WorkflowStartOptions = {
      workflowId: workflowId(call.tenant, call.invocation),
      taskQueue: this.config.temporal.callsQueue,
      args: [call],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      typedSearchAttributes: [
        { key: attributes.tenant, value: call.tenant },
        { key: attributes.server, value: call.server },
        { key: attributes.method, value: call.method },
        { key: attributes.name, value: keyword(call.name) },
        { key: attributes.status, value: 'sending' },
      ],
      priority: { fairnessKey: call.tenant.slice(-maxFairnessKeyLength) },
    };
    try {
      await this.within(writeDeadlineMs, () => this.temporal.workflow.start(invocationWorkflow, options));
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return;
      throw this.unavailable(error);
    }
  }

  /** @throws {Problem} `temporal_unavailable` */
  async cancel(tenant: string, invocation: InvocationId, request: CancelRequest): Promise<Delivery> {
    return this.deliver(() => this.handle(tenant, invocation).signal(cancelSignal, request));
  }

  /** @throws {Problem} `temporal_unavailable` */
  async resume(tenant: string, invocation: InvocationId): Promise<Delivery> {
    return this.deliver(() => this.handle(tenant, invocation).signal(resumeSignal));
  }

  /** @throws {Problem} `temporal_unavailable` */
  async refresh(tenant: string, invocation: InvocationId): Promise<Delivery> {
    return this.deliver(() => this.handle(tenant, invocation).signal(refreshSignal));
  }

  /** @throws {Problem} `temporal_unavailable` */
  async answer(invocation: InvocationId, answer: Answer): Promise<Delivery> {
    return this.deliver(() => this.handle(answer.tenant, invocation).signal(answerSignal, answer));
  }

  /** @returns `unknown` when the call says that it knows no such answer, `silent` when nobody says anything in time */
  async verdict(tenant: string, invocation: InvocationId, answerId: string): Promise<Verdict | 'unknown' | 'silent'> {
    try {
      const ask = () => this.handle(tenant, invocation).query(verdictQuery, answerId);
      return (await this.within(verdictDeadlineMs, ask)) ?? 'unknown';
    } catch (error) {
      // No worker, a busy one, or a call past Temporal's retention: all of them only mean that the verdict is not known here.
      this.log.debug({ event: 'verdict_unknown', invocation, err: error }, 'no verdict in time');
      return 'silent';
    }
  }

  private handle(tenant: string, invocation: InvocationId) {
    return this.temporal.workflow.getHandle(workflowId(tenant, invocation));
  }

  private async deliver(signal: () => Promise<void>): Promise<Delivery> {
    try {
      await this.within(writeDeadlineMs, signal);
      return 'sent';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'gone';
      throw this.unavailable(error);
    }
  }

  private within<T>(ms: number, ask: () => Promise<T>): Promise<T> {
    return this.temporal.withDeadline(Date.now() + ms, ask);
  }

  private unavailable(error: unknown): unknown {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (!isGrpcServiceError(cause)) return error;
    this.log.warn({ event: 'temporal_unavailable', code: cause.code }, 'Temporal did not answer');
    return new Problem('temporal_unavailable', { retryAfterSeconds });
  }
}

function keyword(text: string): string {
  // By code points, so that no surrogate pair is cut in half.
  return text.length <= maxKeywordLength ? text : `${[...text].slice(0, maxKeywordLength - 1).join('')}…`;
}
