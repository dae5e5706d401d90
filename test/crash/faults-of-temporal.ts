/** What an operator can do to a call with Temporal's own tools: the requests that `temporal workflow reset` and `temporal activity …` make. */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { workflowId, type InvocationId } from '../../domain/ids.js';
import type { Call } from './call.js';
import type { Scene } from './faults.js';
import { tenant } from './rig.js';

/** Until what Temporal dispatches a second time has come to the worker, and stands where the first one does. */
const dispatchMs = 2_000;
const namespace = 'default';
const identity = 'crash-matrix';

export async function resetTo({ rig, calls, release }: Scene, which: 'first' | 'last' | 'each'): Promise<void> {
  await rig.withTemporal(async (temporal) => {
    const resetCall = async (call: Call): Promise<void> => {
      const tasks = await tasksOf(temporal, call);
      const chosen = which === 'first' ? tasks.slice(0, 1) : which === 'last' ? tasks.slice(-1) : tasks.slice(1).toReversed();
      for (const task of chosen) await reset(temporal, call, task);
    };
    await Promise.all(calls.map(resetCall));
  });
  await delay(dispatchMs);
  await release();
}

async function reset(temporal: Client, call: Call, workflowTaskFinishEventId: string): Promise<void> {
  await temporal.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: idOf(call) },
    reason: 'crash matrix',
    requestId: randomUUID(),
    workflowTaskFinishEventId: workflowTaskFinishEventId as never,
  });
}

/** Ids of the events with which the workflow's tasks ended, oldest first; one that is under way has not ended. */
async function tasksOf(temporal: Client, call: Call): Promise<string[]> {
  const { events } = await temporal.workflow.getHandle(idOf(call)).fetchHistory();
  return (events ?? [])
    .filter(({ workflowTaskCompletedEventAttributes: ended }) => ended !== null && ended !== undefined)
    .map((event) => String(event.eventId));
}

export async function pause(scene: Scene): Promise<void> {
  await eachActivity(scene, pauseActivity);
  await scene.release();
  await delay(dispatchMs);
  await eachActivity(scene, unpauseActivity);
}

export async function pauseAndKill(scene: Scene): Promise<void> {
  await eachActivity(scene, pauseActivity);
  await scene.rig.worker.kill();
  await scene.release();
  await scene.rig.startWorker();
  await eachActivity(scene, unpauseActivity);
}

export async function resetActivities(scene: Scene): Promise<void> {
  await eachActivity(scene, async (temporal, activity) => {
    await temporal.workflowService.resetActivity({ ...activity, identity });
  });
  await delay(dispatchMs);
  await scene.release();
}

export async function changeOptions(scene: Scene): Promise<void> {
  await eachActivity(scene, async (temporal, activity) => {
    await temporal.workflowService.updateActivityOptions({
      ...activity,
      identity,
      activityOptions: { retryPolicy: { maximumAttempts: 10 } },
      updateMask: { paths: ['retry_policy.maximum_attempts'] },
    });
  });
  await scene.rig.worker.kill();
  await scene.release();
  await scene.rig.startWorker();
}

async function pauseActivity(temporal: Client, activity: PendingActivity): Promise<void> {
  await temporal.workflowService.pauseActivity({ ...activity, identity });
}

async function unpauseActivity(temporal: Client, activity: PendingActivity): Promise<void> {
  await temporal.workflowService.unpauseActivity({ ...activity, identity });
}

interface PendingActivity {
  readonly namespace: string;
  readonly execution: { readonly workflowId: string };
  readonly type: string;
}

/** Of every call whose leg is under way: whose was a moment ago, may have none any more. */
async function eachActivity(
  { rig, calls }: Scene,
  act: (temporal: Client, activity: PendingActivity) => Promise<void>,
): Promise<void> {
  await rig.withTemporal(async (temporal) => {
    const actOn = async (call: Call): Promise<void> => {
      const execution = { workflowId: idOf(call) };
      const { pendingActivities } = await temporal.workflowService.describeWorkflowExecution({ namespace, execution });
      if (!pendingActivities?.some((activity) => activity.activityType?.name === 'sendLeg')) return;
      await act(temporal, { namespace, execution, type: 'sendLeg' });
    };
    await Promise.all(calls.map(actOn));
  });
}

export function idOf(call: Call): string {
  return workflowId(tenant, call.id as InvocationId);
}
