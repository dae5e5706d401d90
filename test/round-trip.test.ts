/** Whatever validates goes through the API to the server unchanged, over generated rounds and answers: names, values and states of any kind. */

import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, asked, outcome, start } from './harness/conversation.js';
import { startParley, type Parley } from './harness/parley.js';
import { answerOf, formRequest, inputsOf, members, overWire, urlRequest } from './harness/rounds.js';
import { done, scriptedServer, tool, type ScriptedServer } from './harness/scripted-server.js';

interface AnsweredRound {
  readonly inputRequests: object;
  /** Absent: the server sends none. */
  readonly requestState: string | undefined;
  readonly responses: object;
}

const request = fc.oneof({ weight: 3, arbitrary: formRequest() }, { weight: 1, arbitrary: urlRequest() });
/** Of any code units: half a surrogate pair is a state too. */
const state = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 200 });
const answeredRound = fc
  .record({
    inputRequests: members(request, { minLength: 1, maxLength: 4 }).map((requests) => overWire(requests) as object),
    requestState: fc.option(fc.oneof(fc.constant(''), state), { nil: undefined, freq: 8 }),
  })
  .chain((round) => answerOf(inputsOf(round.inputRequests)).map((responses) => ({ ...round, responses: responses as object })));

/** The same in every run: a failure names the number of its round. */
const rounds: readonly AnsweredRound[] = fc.sample(answeredRound, { seed: 20_260_728, numRuns: 40 });
const atOnce = 5;

let parley: Parley;
let scripted: ScriptedServer;
const legsOf = (id: string) => scripted.calls.filter((call) => call.id.startsWith(`${id}.`));

beforeAll(async () => {
  scripted = await scriptedServer([tool('ask')], ({ params }, reply) => {
    if (params['inputResponses'] !== undefined) return reply.result(done);
    const { inputRequests, requestState } = rounds[(params['arguments'] as { round: number }).round] as AnsweredRound;
    reply.result({ resultType: 'input_required', inputRequests, ...(requestState !== undefined && { requestState }) });
  });
  parley = await startParley({ servers: [{ id: 'scripted', url: scripted.url }] });
});
afterAll(async () => {
  await parley?.stop();
  await scripted?.close();
});

async function expectRoundTrip(round: number): Promise<void> {
  const { inputRequests, requestState, responses } = rounds[round] as AnsweredRound;
  const id = await start(parley, { server: 'scripted', tool: 'ask', arguments: { round } });
  const consent = await asked(parley, id, 1, 60_000);
  expect(Object.keys(consent.inputs), `inputs of round ${round}`).toEqual(Object.keys(inputRequests));
  const reply = await answer(parley, consent, responses);
  expect([200, 202], `answer to round ${round}: ${reply.text}`).toContain(reply.status);
  expect(await outcome(parley, id, 60_000), `round ${round}`).toMatchObject({ outcome: 'completed', leg: 2 });

  const legs = legsOf(id);
  expect(legs, `requests of round ${round}`).toHaveLength(2);
  const retry = legs[1]?.params ?? {};
  // As text: toEqual would overlook a member named __proto__, and the order of members.
  expect(JSON.stringify(ownOf(retry, 'inputResponses')), `responses of round ${round}`).toBe(JSON.stringify(responses));
  expect(JSON.stringify(ownOf(retry, 'requestState')), `state of round ${round}`).toBe(JSON.stringify(requestState));
}

function ownOf(params: Record<string, unknown>, member: string): unknown {
  return Object.hasOwn(params, member) ? params[member] : undefined;
}

describe('an answer that validates', () => {
  it(
    'reaches the server byte for byte as it was given, with the state as it was sent, and once [P3] [P4]',
    { timeout: 120_000 },
    async () => {
      const left = rounds.keys();
      const oneByOne = async (): Promise<void> => {
        for (const round of left) await expectRoundTrip(round);
      };
      await Promise.all(Array.from({ length: atOnce }, oneByOne));
    },
  );

  it('is of every kind: what was generated holds each action, each type of field, and names that objects inherit', () => {
    const inputs = rounds.flatMap(({ inputRequests }) => inputsOf(inputRequests));
    const fields = inputs.flatMap((input) => (input.kind === 'form' ? input.fields : []));
    const actions = rounds.flatMap(({ responses }) => Object.values(responses).map(({ action }) => action));
    expect(new Set(inputs.map(({ kind }) => kind))).toEqual(new Set(['form', 'url']));
    expect(new Set(fields.map(({ type }) => type))).toEqual(
      new Set(['string', 'number', 'integer', 'boolean', 'select', 'multiselect']),
    );
    expect(new Set(actions)).toEqual(new Set(['accept', 'decline', 'cancel']));
    for (const hostile of ['__proto__', 'constructor', '', '\u0000', '👩‍🚀']) {
      expect(inputs.map(({ key }) => key)).toContain(hostile);
      expect(fields.map(({ name }) => name)).toContain(hostile);
    }
  });
});
