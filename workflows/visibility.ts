/** Search attributes for operators: ids and states only, they are stored in clear (design §7). */

import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { OpenStatus, Outcome } from '../domain/outcome.js';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

export const attributes = {
  tenant: keyword('ParleyTenant'),
  server: keyword('ParleyServer'),
  method: keyword('ParleyMethod'),
  name: keyword('ParleyName'),
  status: keyword('ParleyStatus'),
  outcome: keyword('ParleyOutcome'),
  deadline: defineSearchAttributeKey('ParleyDeadline', SearchAttributeType.DATETIME),
};

/** `held` is for operators: whoever lifts a hold finds the calls that wait for it. */
export function showStatus(status: OpenStatus | 'held', deadlineAt?: number): void {
  upsertSearchAttributes([
    { key: attributes.status, value: status },
    { key: attributes.deadline, value: deadlineAt === undefined ? null : new Date(deadlineAt) },
  ]);
}

export function showOutcome(outcome: Outcome): void {
  upsertSearchAttributes([
    { key: attributes.status, value: 'closed' },
    { key: attributes.outcome, value: outcome },
  ]);
}
