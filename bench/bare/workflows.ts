/** The floor: the least that Temporal can do for one MCP request. No ledger, no audit, no encryption, no binding, no consent. */

import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { BareActivities } from './activities.js';

const { callTool } = proxyActivities<BareActivities>({ startToCloseTimeout: '1 minute', retry: { maximumAttempts: 1 } });

export const goSignal = defineSignal('go');

/** One workflow with one activity. */
export async function bareCall(tool: string): Promise<unknown> {
  return callTool(tool);
}

/** Parked until a signal, then one activity. */
export async function bareAnswer(tool: string): Promise<unknown> {
  let go = false;
  setHandler(goSignal, () => void (go = true));
  await condition(() => go);
  return callTool(tool);
}
