/** Answers that nobody asked for, that come too late, twice, from somebody else, or that do not fit: refused, and the server hears nothing. */

import { expect } from 'vitest';
import type { RestReply } from '../../tools/rest.js';
import { acceptLater, answer, asked, outcome } from '../harness/conversation.js';
import { done } from '../harness/scripted-server.js';
import { ask, checkbox, completed, form, go, object, yes, type HostileCase, type Person, type Visit } from './case.js';
import { reply, type Leg } from './server.js';

const given = { go: yes };
const ok = { go: yes.content };
const email = form({
  ...object({ mail: { type: 'string', format: 'email' }, n: { type: 'integer', maximum: 3 } }),
  required: ['mail'],
});

/** Refused and of no effect: the right answer still counts afterwards. */
const thenRight =
  (refusal: (visit: Visit) => Promise<void>): Person =>
  async (visit) => {
    await refusal(visit);
    await acceptLater(visit.parley, visit.consent, ok);
  };

const afterwards = (name: string, refusal: (visit: Visit) => Promise<void>): HostileCase => ({
  name,
  serves: go(checkbox, { requestState: 's' }),
  person: thenRight(refusal),
  echoes: { inputResponses: given, requestState: 's' },
  ends: completed,
  legs: 2,
});

const unsolicited: HostileCase[] = [
  afterwards('answer-to-a-consent-that-nobody-opened', async ({ parley, consent }) => {
    const invented = `cns_${'0'.repeat(32)}`;
    says(await answer(parley, { ...consent, id: invented }, given), 404, 'consent_unknown');
  }),
  afterwards('answer-to-something-else-than-was-shown', async ({ parley, consent }) => {
    says(await answer(parley, consent, given, { digest: `sha256:${'0'.repeat(64)}` }), 409, 'answer_mismatch');
  }),
  afterwards('answer-of-another-person', async ({ parley, consent }) => {
    says(await answer(parley, consent, given, { as: { sub: 'user-2' } }), 404, 'consent_unknown');
  }),
  afterwards('answer-of-another-tenant', async ({ parley, consent }) => {
    says(await answer(parley, consent, given, { as: { tenant: 't2' } }), 404, 'consent_unknown');
  }),
  afterwards('answer-without-the-scope-to-decide', async ({ parley, consent }) => {
    says(await answer(parley, consent, given, { as: { scopes: ['consents:read'] } }), 403, 'scope_missing');
  }),
  afterwards('answer-without-a-token', async ({ parley, consent }) => {
    says(await answer(parley, consent, given, { as: null }), 401, 'token_missing');
  }),
];

const unfit: HostileCase[] = [
  afterwards('answer-with-a-key-too-many', async ({ parley, consent }) => {
    says(await answer(parley, consent, { ...given, more: yes }), 422, 'answer_invalid', ['/responses/more']);
  }),
  afterwards('answer-with-an-inherited-key', async ({ parley, consent }) => {
    const polluted: object = JSON.parse(`{"go":${JSON.stringify(yes)},"__proto__":${JSON.stringify(yes)}}`);
    says(await answer(parley, consent, polluted), 422, 'answer_invalid', ['/responses/__proto__']);
  }),
  afterwards('answer-with-a-key-missing', async ({ parley, consent }) => {
    says(await answer(parley, consent, {}), 422, 'answer_invalid', ['/responses/go']);
  }),
  afterwards('answer-of-an-unknown-action', async ({ parley, consent }) => {
    says(await answer(parley, consent, { go: { action: 'approve' } }), 422, 'answer_invalid', ['/responses/go/action']);
  }),
  afterwards('answer-in-the-wrapped-shape', async ({ parley, consent }) => {
    const wrapped = { method: 'elicitation/create', result: yes };
    says(await answer(parley, consent, { go: wrapped }), 422, 'answer_invalid', ['/responses/go/action']);
  }),
  {
    name: 'answer-that-does-not-fit-the-form',
    serves: go(email),
    person: async ({ parley, consent }) => {
      const content = { mail: 'nobody', n: 4, extra: {} };
      const pointers = ['extra', 'mail', 'n'].map((field) => `/responses/go/content/${field}`);
      says(await answer(parley, consent, { go: { action: 'accept', content } }), 422, 'answer_invalid', pointers);
      await acceptLater(parley, consent, { go: { mail: 'a@example.com', n: 3 } });
    },
    echoes: { inputResponses: { go: { action: 'accept', content: { mail: 'a@example.com', n: 3 } } } },
    ends: completed,
    legs: 2,
  },
  {
    name: 'answer-to-one-request-of-two',
    serves: ask({ go: checkbox, other: checkbox }),
    person: async ({ parley, consent }) => {
      says(await answer(parley, consent, given), 422, 'answer_invalid', ['/responses/other']);
      await acceptLater(parley, consent, { go: yes.content, other: yes.content });
    },
    echoes: { inputResponses: { go: yes, other: yes } },
    ends: completed,
    legs: 2,
  },
];

const late: HostileCase[] = [
  {
    name: 'answer-after-the-deadline',
    serves: go(checkbox),
    policy: { roundDeadline: 'PT0.5S' },
    person: async ({ parley, consent, invocation }) => {
      await outcome(parley, invocation);
      says(await answer(parley, consent, given), 410, 'consent_expired');
    },
    ends: { outcome: 'expired', reason: 'round_deadline' },
    legs: 1,
  },
  {
    name: 'answer-after-the-call-was-cancelled',
    serves: go(checkbox),
    person: async ({ parley, consent, invocation }) => {
      await parley.api(`/v1/invocations/${invocation}/cancel`, { method: 'POST', idempotencyKey: invocation, body: {} });
      await outcome(parley, invocation);
      says(await answer(parley, consent, given), 409, 'consent_withdrawn');
    },
    ends: { outcome: 'cancelled', reason: 'cancel_requested' },
    legs: 1,
  },
];

const replayed: HostileCase[] = [
  {
    name: 'answer-given-twice',
    serves: go(checkbox),
    person: async ({ parley, consent, invocation }) => {
      const key = `twice ${consent.id}`;
      const first = await answer(parley, consent, given, { key });
      expect([200, 202], first.text).toContain(first.status);
      const again = await answer(parley, consent, given, { key });
      expect(again.body.receipt).toEqual(first.body.receipt);
      says(await answer(parley, consent, { go: { action: 'decline' } }, { key }), 422, 'idempotency_key_reused');
      await outcome(parley, invocation);
      says(await answer(parley, consent, given), 409, 'consent_answered');
    },
    echoes: { inputResponses: given },
    ends: completed,
    legs: 2,
  },
  {
    name: 'answer-given-again-for-the-next-round',
    serves: ({ response, id, n }: Leg) => reply(response, id, n > 2 ? done : go(checkbox, { requestState: `round ${n}` })),
    person: async ({ parley, consent, invocation }) => {
      await acceptLater(parley, consent, ok);
      const second = await asked(parley, invocation, 2);
      // What is shown may be the same; the round it was given to is not.
      says(await answer(parley, consent, given), 409, 'consent_answered');
      says(await answer(parley, { id: second.id, digest: `${consent.digest}0` }, given), 409, 'answer_mismatch');
      await acceptLater(parley, second, ok);
    },
    ends: completed,
    legs: 3,
  },
];

export const answers: readonly HostileCase[] = [...unsolicited, ...unfit, ...late, ...replayed];

function says(answered: RestReply, status: number, code: string, pointers: readonly string[] = []): void {
  expect(answered.status, answered.text).toBe(status);
  expect(answered.body.code).toBe(code);
  const errors = (answered.body.errors ?? []) as { pointer: string }[];
  expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual(pointers.toSorted());
}
