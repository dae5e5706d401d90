import { describe, expect, it } from 'vitest';
import { aRecord } from '../../test/harness/a-record.js';
import type { ConsentId, InvocationId } from '../../domain/ids.js';
import type { InvocationRecord } from '../records/record.js';
import { decide } from './decide.js';
import type { Seen, SeenConsent, WorkflowState } from './seen.js';

const graceMs = 1_000;
const nowAt = 1_000_000;
const longAgo = nowAt - graceMs;
const justNow = nowAt - graceMs + 1;
const invocation = 'inv_1' as InvocationId;
const asked = 'cns_1' as ConsentId;
const running = (status?: string): WorkflowState => ({ is: 'running', status });

const record = (overrides: Partial<InvocationRecord> = {}): InvocationRecord =>
  aRecord({
    id: invocation,
    legDeadlineMs: 5_000,
    status: 'awaiting_input',
    round: 1,
    consent: asked,
    startedAt: 0,
    updatedAt: longAgo,
    sequence: 1,
    ...overrides,
  });
const parked = record();
const sending = record({ status: 'sending', consent: null, leg: 2, sequence: 2 });
const closed = record({ status: 'closed', outcome: 'completed', consent: null });
const consent = (more: Partial<SeenConsent> = {}): SeenConsent => ({
  id: asked,
  invocation,
  status: 'open',
  round: 1,
  openedAt: longAgo,
  ...more,
});

/** An open question and a workflow that waits for its answer, unless something else is said. */
function acted(more: Partial<Seen>) {
  const usual = { record: parked, consents: [consent()], leg: null, workflow: running('awaiting_input') };
  const act = decide({ tenant: 't1', invocation, ...usual, ...more }, nowAt, graceMs);
  if (act.is === 'close') return `close ${act.cause}`;
  if (act.is === 'nudge') return `nudge ${act.code}${act.isSure ? '' : ', if it stays so'}`;
  if (act.is === 'report') return `report ${act.code}`;
  if (act.is === 'settle') return `settle ${act.consents.map(({ id, status }) => `${id} ${status}`).join()}`;
  return act.is;
}

const gone: WorkflowState = { is: 'gone' };
const ended: WorkflowState = { is: 'ended' };
const completed: WorkflowState = { is: 'completed' };

describe('decide', () => {
  it.each<[string, Partial<Seen>, string]>([
    ['a question that waits for its answer', {}, 'none'],
    ['a workflow that is gone', { workflow: gone }, 'close terminated'],
    ['a workflow that was terminated', { workflow: ended }, 'close terminated'],
    ['a workflow that has completed', { workflow: completed }, 'restore'],
    ['a change a moment ago, and no workflow', { record: record({ updatedAt: justNow }), workflow: gone }, 'none'],
    ['a change a moment ago, and a workflow that is over', { record: record({ updatedAt: justNow }), workflow: ended }, 'none'],
    [
      'no workflow, and none that ever wrote',
      { record: record({ status: 'sending', sequence: 0, consent: null }), workflow: gone, consents: [] },
      'close never_started',
    ],
    [
      'terminated before it wrote anything',
      { record: record({ status: 'sending', sequence: 0 }), workflow: ended },
      'close terminated',
    ],

    ['a question whose consent is gone', { consents: [] }, 'nudge consent_lost'],
    [
      'a question whose consent is closed',
      { consents: [consent({ status: 'answered' })] },
      'nudge answer_not_sent, if it stays so',
    ],
    ['an answer that nobody judges', { consents: [consent({ answeredAt: longAgo })] }, 'nudge answer_not_sent, if it stays so'],
    ['an answer of a moment ago', { consents: [consent({ answeredAt: justNow })] }, 'none'],
    ['a workflow that has gone on', { workflow: running('sending') }, 'nudge answer_not_sent, if it stays so'],
    ['a workflow that does not say where it is', { workflow: running() }, 'none'],

    ['a leg that nobody has begun', { record: sending, consents: [] }, 'nudge leg_not_begun, if it stays so'],
    ['a leg on its way', { record: sending, consents: [], leg: { state: 'begun', begunAt: nowAt - 5_999 } }, 'none'],
    [
      'a leg past its deadline',
      { record: sending, consents: [], leg: { state: 'begun', begunAt: nowAt - 6_000 } },
      'report leg_stuck',
    ],
    ['a leg that is tried again', { record: sending, consents: [], leg: { state: 'revoked', begunAt: 0 } }, 'none'],
    ['a consent of the round before', { record: sending, leg: { state: 'done', begunAt: 0 } }, 'settle cns_1 answered'],
    [
      'an operator who is waited for',
      { record: record({ status: 'sending', consent: null, reason: 'server_held' }), consents: [] },
      'none',
    ],
    [
      'a credential that is to be renewed',
      { record: record({ consent: null, reason: 'reauthorization_required' }), consents: [] },
      'none',
    ],
    ['a server that is waited for', { record: record({ status: 'awaiting_server', consent: null }), consents: [] }, 'none'],

    ['a call that is over', { record: closed, consents: [], workflow: completed }, 'none'],
    ['a call that is over and past Temporal', { record: closed, consents: [], workflow: gone }, 'none'],
    ['a consent of a call that is over', { record: closed, workflow: completed }, 'settle cns_1 withdrawn'],
    [
      'a workflow that runs again after its call was closed',
      { record: closed, workflow: running() },
      'nudge record_closed, if it stays so',
    ],

    ['a workflow without a record', { record: null, consents: [], startedAt: longAgo }, 'nudge record_lost'],
    ['a workflow of a moment ago without a record', { record: null, consents: [], startedAt: justNow }, 'none'],
    ['a consent without record and workflow', { record: null, workflow: gone }, 'settle cns_1 withdrawn'],
    [
      'a consent of a moment ago without record',
      { record: null, workflow: gone, consents: [consent({ openedAt: justNow })] },
      'none',
    ],
  ])('%s', (_, seen, act) => expect(acted(seen)).toBe(act));

  it.each(['sending', 'awaiting_input', 'awaiting_server', 'closed'] as const)(
    'closes no call whose workflow runs, whatever is seen of a record that is %s',
    (status) => {
      const states = [running(), running('sending'), running('awaiting_input'), running('awaiting_server'), running('closed')];
      const legs = [null, { state: 'begun', begunAt: 0 }, { state: 'done', begunAt: 0 }, { state: 'revoked', begunAt: 0 }];
      const consents = [[], [consent()], [consent({ status: 'expired' })]];
      for (const workflow of states)
        for (const leg of legs)
          for (const list of consents)
            for (const sequence of [0, 1])
              expect(acted({ record: record({ status, sequence }), workflow, leg, consents: list })).not.toMatch(
                /^(close|restore)/,
              );
    },
  );
});
