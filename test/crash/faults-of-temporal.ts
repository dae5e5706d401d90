/** What an operator can do to a call with Temporal's own tools: the requests that `temporal workflow reset` and `temporal activity …` make. */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { workflowId, type InvocationId } from '../../domain/ids.js';
import { until } from '../../tools/until.js';
import type { Call } from './call.js';
import type { Scene } from './faults.js';
import { tenant } from './rig.js';

/** Until what Temporal dispatches a second time has come to the worker, and stands where the first one does. */
const dispatchMs = 2_000;
/** Until a run that was reset stands where it can go no further, on a machine that does other things too. */
const settleMs = 45_000;
const lookEveryMs = 500;
const namespace = 'default';
const identity = 'crash-matrix';
const { PendingActivityState } = proto.temporal.api.enums.v1;

export async function resetTo({ rig, calls, release }: Scene, which: 'first' | 'last' | 'each'): Promise<void> {
  await rig.withTemporal(async (temporal) => {
    const resetCall = async (call: Call): Promise<void> => {
      for (const task of chosenOf(await tasksOf(temporal, call), which, call.key)) await reset(temporal, call, task);
    };
    await Promise.all(calls.map(resetCall));
  });
  await delay(dispatchMs);
  await release();
}

/** @throws {Error} where there is none: a fault that does nothing proves nothing */
function chosenOf(tasks: readonly string[], which: 'first' | 'last' | 'each', name: string): readonly string[] {
  const later = tasks.slice(1);
  const chosen = { first: tasks.slice(0, 1), last: later.slice(-1), each: later.toReversed() }[which];
  if (chosen.length === 0) throw new Error(`${name} has ${tasks.length} tasks, and none to be reset to`);
  return chosen;
}

/** Resolves when the new run has settled. */
async function reset(temporal: Client, call: Call, task: string): Promise<void> {
  const { runId } = await temporal.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: idOf(call) },
    reason: 'crash matrix',
    requestId: randomUUID(),
    workflowTaskFinishEventId: task as never,
  });
  let lengthBefore: string | undefined;
  const hasSettled = async (): Promise<boolean> => {
    const length = await lengthOf(temporal, call, runId, task);
    const isSame = length !== undefined && length === lengthBefore;
    lengthBefore = length;
    return isSame;
  };
  await until(hasSettled, settleMs, `the run of ${call.key} after its reset`, lookEveryMs);
}

/** @returns of the history of a run; nothing while it has not done the task that it was reset to, or its leg has not come to a worker */
async function lengthOf(temporal: Client, call: Call, runId: string, task: string): Promise<string | undefined> {
  const workflow = temporal.workflow.getHandle(idOf(call));
  const { raw } = await workflow.describe();
  if (raw.workflowExecutionInfo?.execution?.runId !== runId) throw new Error(`${call.key} runs on as it was before its reset`);
  const isStarted = ({ state }: { state?: unknown }): boolean => state === PendingActivityState.PENDING_ACTIVITY_STATE_STARTED;
  const hasGoneOn = (await tasksOf(temporal, call)).some((each) => Number(each) > Number(task));
  return hasGoneOn && raw.pendingActivities?.every(isStarted) ? String(raw.workflowExecutionInfo.historyLength) : undefined;
}

/**
 * Ids of the events with which the workflow's tasks ended, oldest first; one that is under way has not ended. A task that only says that
 * it is still at work, for a step takes long, has another one right behind it, and is none to reset to.
 */
async function tasksOf(temporal: Client, call: Call): Promise<string[]> {
  const { events } = await temporal.workflow.getHandle(idOf(call)).fetchHistory();
  const all = events ?? [];
  return all
    .filter(
      ({ workflowTaskCompletedEventAttributes: ended }, index) => ended && !all[index + 1]?.workflowTaskScheduledEventAttributes,
    )
    .map((event) => String(event.eventId));
}

export async function pause(scene: Scene): Promise<void> {
  await eachActivity(scene, pauseActivity);
  await scene.release();
  await delay(dispatchMs);
  await unpauseWhatIsLeft(scene);
}

export async function pauseAndKill(scene: Scene): Promise<void> {
  await eachActivity(scene, pauseActivity);
  await scene.rig.worker.kill();
  await scene.release();
  await scene.rig.startWorker();
  await unpauseWhatIsLeft(scene);
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

interface PendingActivity {
  readonly namespace: string;
  readonly execution: { readonly workflowId: string };
  readonly type: string;
}

type Act = (temporal: Client, activity: PendingActivity) => Promise<void>;

/** @throws {Error} for a call whose leg is not under way: a fault that does nothing proves nothing */
async function eachActivity({ rig, calls }: Scene, act: Act): Promise<void> {
  await rig.withTemporal(async (temporal) => {
    const actOn = async (call: Call): Promise<void> => {
      const activity = await pendingLeg(temporal, call);
      if (activity === undefined) throw new Error(`${call.key} has no leg under way`);
      await act(temporal, activity);
    };
    await Promise.all(calls.map(actOn));
  });
}

/** Whose leg was under way when it was paused, may have none any more. */
async function unpauseWhatIsLeft({ rig, calls }: Scene): Promise<void> {
  await rig.withTemporal(async (temporal) => {
    const unpause = async (call: Call): Promise<void> => {
      const activity = await pendingLeg(temporal, call);
      if (activity !== undefined) await temporal.workflowService.unpauseActivity({ ...activity, identity });
    };
    await Promise.all(calls.map(unpause));
  });
}

async function pendingLeg(temporal: Client, call: Call): Promise<PendingActivity | undefined> {
  const execution = { workflowId: idOf(call) };
  const { pendingActivities } = await temporal.workflowService.describeWorkflowExecution({ namespace, execution });
  const isPending = pendingActivities?.some(({ activityType }) => activityType?.name === 'sendLeg');
  return isPending ? { namespace, execution, type: 'sendLeg' } : undefined;
}

export function idOf(call: Call): string {
  return workflowId(tenant, call.id as InvocationId);
}
