/** The main job: a call of several rounds, asked and answered over REST, against a server written with the official SDK. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  accept,
  answer,
  asked,
  auditOf,
  deployTo,
  exampleLegs,
  invocation,
  outcome,
  post,
  start,
} from './harness/conversation.js';
import { startParley, type Parley } from './harness/parley.js';
import { asking, done, scriptedServer, tool, type Call, type ScriptedServer } from './harness/scripted-server.js';

let parley: Parley;
let scripted: ScriptedServer;

/** Asks as long as its name says, then completes; the states are what a server may send and a client must not touch. */
const states = ['plain', '', 'quo"te\\ and \u0000', 'line\u2028separator', 'emoji 👩‍🚀', 'e\u0301 decomposed', 'half \ud800 pair'];

beforeAll(async () => {
  scripted = await scriptedServer(
    [tool('states'), tool('stateless'), tool('endless'), tool('polls'), tool('large'), tool('no_result_type')],
    (call, reply) => {
      const { name } = call.params as { name: string };
      const legs = scripted.calls.filter((each) => each.id.split('.')[0] === call.id.split('.')[0]).length;
      const confirm = asking('go', { ok: { type: 'boolean' } });
      switch (name) {
        case 'states': {
          const requestState = states[legs - 1];
          if (requestState === undefined) return reply.result(done);
          return reply.result({ resultType: 'input_required', inputRequests: confirm, requestState });
        }
        case 'stateless':
          return reply.result(legs === 1 ? { resultType: 'input_required', inputRequests: confirm } : done);
        case 'polls':
          return reply.result({ resultType: 'input_required', requestState: 'wait' });
        case 'large':
          return reply.result({ ...done, content: [{ type: 'text', text: 'x'.repeat(3_000_000) }] });
        case 'no_result_type':
          return reply.result({ content: [] });
        default:
          return reply.result({ resultType: 'input_required', inputRequests: confirm, requestState: `leg ${legs}` });
      }
    },
  );
  parley = await startParley({ servers: [{ id: 'scripted', url: scripted.url }] });
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
});

const legsOf = (id: string): Call[] => scripted.calls.filter((call) => call.id.startsWith(id));

describe('a call that asks nothing', () => {
  it('is over in one leg, and its result is the server’s own', async () => {
    const reply = await post(parley, { tool: 'echo', arguments: { text: 'hello' }, waitSeconds: 20 });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.headers.get('preference-applied')).toBe('wait=20');
    expect(reply.body).toMatchObject({ status: 'closed', outcome: 'completed', leg: 1, round: 0, consent: null });
    expect(reply.body.result.structuredContent).toEqual({ text: 'hello', length: 5 });
    const again = await parley.api(`/v1/invocations/${reply.body.id}/result`);
    expect(again.body).toEqual(reply.body.result);
  });

  it('takes a missing resultType for a complete result', async () => {
    const reply = await post(parley, { server: 'scripted', tool: 'no_result_type', waitSeconds: 20 });
    expect(reply.body).toMatchObject({ outcome: 'completed', result: { content: [] } });
  });

  it('keeps a result of megabytes out of the history, and returns it whole', async () => {
    const reply = await post(parley, { server: 'scripted', tool: 'large', waitSeconds: 20 });
    expect(reply.body.result.content[0].text).toHaveLength(3_000_000);
  });
});

describe('a call that asks', () => {
  it('parks, asks the subject, and completes with the answer: one effect, two legs, fresh ids [P1] [P3]', async () => {
    const before = parley.example.effects().byTool['deploy'] ?? 0;
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'build-42' } });
    const consent = await asked(parley, id);
    expect(await invocation(parley, id)).toMatchObject({ status: 'awaiting_input', leg: 1, round: 1, result: null });
    expect(consent).toMatchObject({
      invocation: id,
      status: 'open',
      server: { id: 'example', title: 'Server example' },
      call: { method: 'tools/call', name: 'deploy', arguments: { artifact: 'build-42' } },
      effect: { readOnly: false, destructive: true },
    });
    expect(consent.inputs.target.fields.map((field: any) => [field.name, field.type])).toEqual([
      ['environment', 'select'],
      ['confirm', 'boolean'],
    ]);
    const inbox = await parley.api('/v1/consents');
    expect(inbox.body.items.map((item: any) => item.id)).toContain(consent.id);

    const reply = await accept(parley, consent, deployTo('staging'));
    const closed = await outcome(parley, id);
    expect(closed).toMatchObject({ outcome: 'completed', reason: 'complete_result', leg: 2, round: 1, consent: null });
    expect(closed.result.content[0].text).toBe('build-42 was deployed to staging');
    expect(parley.example.effects().byTool['deploy']).toBe(before + 1);
    const legs = exampleLegs(parley, id);
    expect(legs.map((leg) => [leg.id, leg.hasState, leg.hasResponses])).toEqual([
      [`${id}.1`, false, false],
      [`${id}.2`, true, true],
    ]);
    const receipt = await parley.api(`/v1/receipts/${reply.body.receipt.id}`);
    expect(receipt.status).toBe(200);
    const after = await parley.api('/v1/consents');
    expect(after.body.items.map((item: any) => item.id)).not.toContain(consent.id);
  });

  it('goes through three rounds with every kind of field', async () => {
    const id = await start(parley, { tool: 'onboard', arguments: { company: 'Acme' } });
    const person = {
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      homepage: 'https://example.com/ada',
      startsOn: '2027-01-04',
      firstMeeting: '2027-01-04T09:00:00+01:00',
    };
    const job = { team: 'build', level: 'l2', site: 'ber', skills: ['go', 'ts'], languages: ['de', 'en'] };
    const terms = { salary: 70_000.5, daysOff: 30, signed: true };
    await accept(parley, await asked(parley, id, 1), { person });
    await accept(parley, await asked(parley, id, 2), { job });
    await accept(parley, await asked(parley, id, 3), { terms });
    const closed = await outcome(parley, id);
    expect(closed).toMatchObject({ outcome: 'completed', leg: 4, round: 3 });
    const [, given] = closed.result.content[0].text.split('Acme onboarded ');
    expect(JSON.parse(given)).toEqual({ person, job, terms });
  });

  it('sends the answers to several questions of one round together', async () => {
    const id = await start(parley, { tool: 'transfer', arguments: { amount: 5, to: 'Bob' } });
    const consent = await asked(parley, id);
    expect(Object.keys(consent.inputs)).toEqual(['payer', 'approval']);
    await accept(parley, consent, { payer: { account: 'savings' }, approval: { approve: true } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 2 });
    expect(parley.example.effects().byTool['transfer']).toBe(1);
  });

  it('keeps accept, decline and cancel apart, and sends each to the server [P6]', async () => {
    for (const [action, words] of [
      ['decline', 'declined'],
      ['cancel', 'cancelled'],
    ] as const) {
      const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'build-7' } });
      const reply = await answer(parley, await asked(parley, id), { target: { action } });
      expect(reply.status, reply.text).toBe(200);
      const closed = await outcome(parley, id);
      expect(closed.outcome).toBe('completed');
      expect(closed.result.content[0].text).toBe(`build-7 was not deployed: ${words}`);
    }
  });

  it.each([
    ['prompts/get', { name: 'briefing', arguments: { topic: 'owls' } }, { reader: { audience: 'executives', pages: 2 } }],
    ['resources/read', { uri: 'secret://launch-plan' }, { access: { reason: 'review', acknowledge: true } }],
  ])('works for %s as well', async (method, params, contents) => {
    const id = await start(parley, { method, params });
    await accept(parley, await asked(parley, id), contents);
    const closed = await outcome(parley, id);
    expect(closed).toMatchObject({ method, outcome: 'completed', leg: 2 });
    expect(JSON.stringify(closed.result)).toMatch(/for executives|Launch on a Tuesday/);
  });

  it('waits for a server that answers with its state alone, without asking anybody', async () => {
    const id = await start(parley, { tool: 'report', arguments: { about: 'Q3' } });
    const closed = await outcome(parley, id);
    expect(closed, JSON.stringify(closed.problem)).toMatchObject({ outcome: 'completed', leg: 3, round: 2 });
    const legs = exampleLegs(parley, id);
    expect(legs.map((leg) => leg.hasResponses)).toEqual([false, false, false]);
  });
});

describe('requestState', () => {
  it('comes back byte for byte, whatever it holds, and only on the next leg [P4]', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'states', arguments: { kept: 'as is' } });
    for (let round = 1; round <= states.length; round++) {
      await accept(parley, await asked(parley, id, round), { go: { ok: true } });
    }
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: states.length + 1 });
    const legs = legsOf(id);
    expect(legs.map((leg) => leg.params['requestState'])).toEqual([undefined, ...states]);
    expect(new Set(legs.map((leg) => leg.id)).size).toBe(legs.length);
    for (const leg of legs) {
      expect(leg.params).toMatchObject({ name: 'states', arguments: { kept: 'as is' } });
      expect(typeof leg.id).toBe('string');
    }
  });

  it('stays absent when the server sent none', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'stateless' });
    await accept(parley, await asked(parley, id), { go: { ok: true } });
    await outcome(parley, id);
    expect(legsOf(id).map((leg) => Object.hasOwn(leg.params, 'requestState'))).toEqual([false, false]);
    expect(legsOf(id)[1]?.params['inputResponses']).toEqual({ go: { action: 'accept', content: { ok: true } } });
  });
});

describe('budgets', () => {
  it('ends a call that asks more often than its policy allows (rounds_exceeded, round_cap)', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'endless', policy: { maxRounds: 2 } });
    await accept(parley, await asked(parley, id, 1), { go: { ok: true } });
    await accept(parley, await asked(parley, id, 2), { go: { ok: true } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'rounds_exceeded', reason: 'round_cap', leg: 3 });
    expect(legsOf(id)).toHaveLength(3);
  });

  it('ends a call that is asked again after it was cancelled three times (rounds_exceeded, cancel_cap)', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'endless' });
    for (let round = 1; round <= 3; round++) {
      expect((await answer(parley, await asked(parley, id, round), { go: { action: 'cancel' } })).status).toBe(200);
    }
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'rounds_exceeded', reason: 'cancel_cap' });
  });

  it('ends a call that only ever says “not yet” (rounds_exceeded, poll_cap)', async () => {
    const id = await start(parley, { server: 'scripted', tool: 'polls', policy: { maxPolls: 3 } });
    expect(await outcome(parley, id)).toMatchObject({ outcome: 'rounds_exceeded', reason: 'poll_cap', leg: 4 });
    expect(legsOf(id)).toHaveLength(4);
  });
});

describe('the audit record', () => {
  it('holds every round before the leg that answers it [P7]', async () => {
    const id = await start(parley, { tool: 'deploy', arguments: { artifact: 'build-9' } });
    const consent = await asked(parley, id);
    await accept(parley, consent, deployTo('staging'));
    await outcome(parley, id);
    const events = await auditOf(parley, id);
    expect(events.map((event) => [event.type, event.leg ?? null])).toEqual([
      ['invocation_started', null],
      ['leg_submitted', 1],
      ['round_received', 1],
      ['answer_accepted', 1],
      ['leg_submitted', 2],
      ['invocation_closed', 2],
    ]);
    const retry = events[4];
    expect(retry).toMatchObject({ consent: consent.id, actor: 'user-1', viewDigest: consent.digest, wireId: `${id}.2` });
    expect(retry.stateDigest).toBeTruthy();
    expect(retry.receipt).toMatch(/^rct_/);
  });
});
