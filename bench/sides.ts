/**
 * The two sides that are compared, by one interface, so that whoever measures treats them alike: Parley through its REST API, and the
 * floor, a bare Temporal workflow that makes the same MCP request (bench/bare).
 */

import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { workflowId } from '../domain/ids.js';
import { rest, type RestReply, type RestRequest } from '../tools/rest.js';
import { until } from '../tools/until.js';
import { bareAnswer, bareCall, goSignal } from './bare/workflows.js';
import { askingTool, formKey, plainTool } from './mcp-server.js';

export interface Side {
  readonly name: 'parley' | 'temporal';
  /** One call that asks nothing, until its result is here. Resolves with the workflow's id. */
  call(): Promise<string>;
  /** A call that waits for an answer, with nothing of it under way any more. */
  park(): Promise<Parked>;
}

export interface Parked {
  readonly workflowId: string;
  answer(): Promise<unknown>;
  ended(): Promise<unknown>;
}

export const benchTenant = 'bench';
export const benchServerId = 'bench';
const waitSeconds = 30;

export class ParleySide implements Side {
  readonly name = 'parley';

  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly temporal: Client,
  ) {}

  async call(): Promise<string> {
    const { id, outcome, reason } = await this.start(plainTool);
    if (outcome !== 'completed') throw new Error(`Parley's call ${id} ended as ${outcome} (${reason})`);
    return workflowId(benchTenant, id);
  }

  async park(): Promise<Parked> {
    const { id, consent, status } = await this.start(askingTool);
    if (status !== 'awaiting_input') throw new Error(`Parley's call is ${status} and asks nobody`);
    const { digest } = (await this.ask(`/v1/consents/${consent}`)).body;
    const workflow = workflowId(benchTenant, id);
    await untilIdle(this.temporal, workflow);
    const responses = { [formKey]: { action: 'accept', content: { confirm: true } } };
    return {
      workflowId: workflow,
      answer: () => this.ask(`/v1/consents/${consent}/answer`, { body: { digest, responses }, idempotencyKey: randomUUID() }),
      ended: () => untilClosed(this.temporal, workflow),
    };
  }

  private async start(tool: string): Promise<RestReply['body']> {
    const body = { server: benchServerId, method: 'tools/call', params: { name: tool, arguments: { text: 'bench' } } };
    const headers = { prefer: `wait=${waitSeconds}` };
    return (await this.ask('/v1/invocations', { body, headers, idempotencyKey: randomUUID() })).body;
  }

  private async ask(path: string, request?: RestRequest): Promise<RestReply> {
    const reply = await rest(this.url, this.token, path, request);
    if (reply.status >= 300) throw new Error(`Parley answered ${reply.status}: ${reply.text}`);
    return reply;
  }
}

export class BareSide implements Side {
  readonly name = 'temporal';

  constructor(
    private readonly temporal: Client,
    private readonly taskQueue: string,
  ) {}

  async call(): Promise<string> {
    const id = `bare-${randomUUID()}`;
    await this.temporal.workflow.execute(bareCall, { workflowId: id, taskQueue: this.taskQueue, args: [plainTool] });
    return id;
  }

  async park(): Promise<Parked> {
    const id = `bare-${randomUUID()}`;
    const handle = await this.temporal.workflow.start(bareAnswer, {
      workflowId: id,
      taskQueue: this.taskQueue,
      args: [plainTool],
    });
    await untilIdle(this.temporal, id);
    return { workflowId: id, answer: () => handle.signal(goSignal), ended: () => untilClosed(this.temporal, id) };
  }
}

/** A person answers long after the workflow has come to rest; an answer that meets a running task would be measured as another thing. */
async function untilIdle(temporal: Client, id: string): Promise<void> {
  const execution = { workflowId: id };
  const namespace = temporal.options.namespace;
  await until(async () => {
    const { pendingWorkflowTask } = await temporal.workflowService.describeWorkflowExecution({ namespace, execution });
    return !pendingWorkflowTask;
  });
}

/** Without its result: the benchmark has no key of Parley's codec. */
async function untilClosed(temporal: Client, id: string): Promise<void> {
  const execution = { workflowId: id };
  const namespace = temporal.options.namespace;
  const closeEvent = 2; // temporal.api.enums.v1.HistoryEventFilterType
  const wish = { namespace, execution, waitNewEvent: true, historyEventFilterType: closeEvent };
  let token: Uint8Array | null | undefined;
  do {
    const page = await temporal.workflowService.getWorkflowExecutionHistory({ ...wish, ...(token && { nextPageToken: token }) });
    if (page.history?.events?.length) return;
    token = page.nextPageToken;
  } while (token?.length);
  throw new Error(`${id} has no end`);
}
