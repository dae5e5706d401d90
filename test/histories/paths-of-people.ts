/** What people and operators do to a call: answers in time and late, cancellations at every stage, deadlines that nobody meets. */

import { accept, acceptLater, answer, asked, auditOf, invocation, type CallWish } from '../harness/conversation.js';
import { halfAsked } from '../harness/half-asked.js';
import { until, type Parley } from '../harness/parley.js';
import { refreshSignal } from '../../workflows/messages.js';
import { atTemporal, calling, cancel, over, parked, withdraw, yes, type Paths } from './place.js';

const isSubmitted = async (parley: Parley, id: string): Promise<boolean> =>
  (await auditOf(parley, id)).some((event) => event.type === 'leg_submitted');

async function cancelledOnTheWire(parley: Parley, name: string): Promise<string> {
  const id = await calling(parley, name);
  await until(() => isSubmitted(parley, id));
  await cancel(parley, id);
  return over(parley, id);
}

/** A call that polls for an hour. */
async function waitingForServer(parley: Parley, more: CallWish = {}): Promise<string> {
  const id = await calling(parley, 'polls', { server: 'patient', ...more });
  await until(async () => (await invocation(parley, id)).status === 'awaiting_server');
  return id;
}

/** What `act` does to a question that Temporal has not heard of. */
async function actedEarly(parley: Parley, act: (consent: any) => Promise<void>): Promise<string> {
  await parley.process('worker').stop();
  return over(parley, await halfAsked(parley, () => calling(parley, 'asks'), act));
}

export const pathsOfPeople: Paths = {
  answered: async ({ parley }) => {
    const id = await calling(parley, 'asks');
    await accept(parley, await asked(parley, id), yes);
    return over(parley, id);
  },
  'answered twice, and late': async ({ parley }) => {
    const id = await calling(parley, 'asks_twice');
    const first = await asked(parley, id);
    await accept(parley, first, yes);
    const second = await asked(parley, id, 2);
    // To the first question, by somebody who was quicker than the API.
    const reply = await answer(parley, first, { go: { action: 'decline' } });
    if (reply.status === 200) throw new Error('a late answer counted');
    await accept(parley, second, yes);
    return over(parley, id);
  },
  'answered before it was opened': async ({ parley }) => actedEarly(parley, (consent) => acceptLater(parley, consent, yes)),
  'withdrawn before it was opened': async ({ parley }) => actedEarly(parley, ({ id }) => withdraw(parley, id)),
  'answered twice at once': async ({ parley }) => {
    const id = await calling(parley, 'asks');
    const consent = await asked(parley, id);
    await parley.process('worker').stop();
    for (let times = 0; times < 2; times++) await acceptLater(parley, consent, yes);
    await parley.start('worker');
    return over(parley, id);
  },
  'answered and cancelled at once': async ({ parley }) => {
    const id = await calling(parley, 'asks');
    const consent = await asked(parley, id);
    await parley.process('worker').stop();
    await acceptLater(parley, consent, yes);
    await cancel(parley, id);
    await parley.start('worker');
    return over(parley, id);
  },
  'answered in time, and heard of too late': async ({ parley }) => {
    const id = await calling(parley, 'asks', { policy: { callDeadline: 'PT8S' } });
    const consent = await asked(parley, id);
    await parley.process('worker').stop();
    await acceptLater(parley, consent, yes);
    await until(() => Date.now() > Date.parse(consent.deadline) + 200);
    await parley.start('worker');
    return over(parley, id);
  },
  'shown again': async ({ parley }) => {
    const id = await calling(parley, 'asks');
    const consent = await asked(parley, id);
    await atTemporal(parley, id, (handle) => handle.signal(refreshSignal));
    await accept(parley, consent, yes);
    return over(parley, id);
  },
  expired: async ({ parley }) => over(parley, await calling(parley, 'asks', { policy: { roundDeadline: 'PT0.3S' } })),
  'call deadline': async ({ parley }) => over(parley, await calling(parley, 'asks', { policy: { callDeadline: 'PT1S' } })),
  'call deadline on the wire': async ({ parley }) =>
    over(parley, await calling(parley, 'asks_late', { policy: { callDeadline: 'PT1S' } })),
  'call deadline between polls': async ({ parley }) =>
    over(parley, await waitingForServer(parley, { policy: { callDeadline: 'PT3S' } })),
  'cancelled while parked': async ({ parley }) => {
    const id = await parked(parley);
    await cancel(parley, id);
    return over(parley, id);
  },
  'cancelled in Temporal': async ({ parley }) => {
    const id = await parked(parley);
    await atTemporal(parley, id, (handle) => handle.cancel());
    return over(parley, id);
  },
  'cancelled between polls': async ({ parley }) => {
    const id = await waitingForServer(parley);
    await cancel(parley, id);
    return over(parley, id);
  },
  'cancelled on the wire': async ({ parley }) => cancelledOnTheWire(parley, 'is_silent'),
  'cancelled on the wire, and asked': async ({ parley }) => cancelledOnTheWire(parley, 'asks_late'),
  'withdrawn by an operator': async ({ parley }) => {
    const id = await calling(parley, 'asks');
    await withdraw(parley, (await asked(parley, id)).id);
    return over(parley, id);
  },
};
