/**
 * `onboard`: three rounds, one after the other, with every kind of field a form may have. What was answered so far lives in the sealed
 * `requestState` and nowhere else, so any instance can serve any round. A cancelled or unusable answer is asked for again.
 */

import {
  acceptedContent,
  inputRequired,
  inputResponse,
  type ElicitRequestFormParams,
  type McpServer,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { text, type Toolkit } from './toolkit.js';

interface Question {
  readonly key: string;
  readonly message: string;
  readonly form: ElicitRequestFormParams['requestedSchema'];
  readonly answer: z.ZodType<Record<string, unknown>>;
}

interface Progress {
  /** Index of the question that is open. */
  readonly asked: number;
  readonly given: Record<string, unknown>;
}

const person: Question = {
  key: 'person',
  message: 'Who is joining?',
  form: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Full name', minLength: 1, maxLength: 80 },
      email: { type: 'string', title: 'E-mail', format: 'email' },
      homepage: { type: 'string', title: 'Home page', format: 'uri' },
      startsOn: { type: 'string', title: 'First day', format: 'date' },
      firstMeeting: { type: 'string', title: 'First meeting', format: 'date-time' },
    },
    required: ['name', 'email', 'startsOn'],
  },
  answer: z.looseObject({ name: z.string(), email: z.string(), startsOn: z.string() }),
};

const job: Question = {
  key: 'job',
  message: 'What will they do?',
  form: {
    type: 'object',
    properties: {
      team: { type: 'string', title: 'Team', enum: ['build', 'run', 'sell'] },
      level: { type: 'string', title: 'Level', enum: ['l1', 'l2'], enumNames: ['Junior', 'Senior'], default: 'l1' },
      site: {
        type: 'string',
        title: 'Site',
        oneOf: [
          { const: 'ber', title: 'Berlin' },
          { const: 'sfo', title: 'San Francisco' },
        ],
      },
      skills: {
        type: 'array',
        title: 'Skills',
        minItems: 1,
        maxItems: 2,
        items: { type: 'string', enum: ['go', 'rust', 'ts'] },
      },
      languages: {
        type: 'array',
        title: 'Languages',
        items: {
          anyOf: [
            { const: 'de', title: 'German' },
            { const: 'en', title: 'English' },
          ],
        },
        default: ['en'],
      },
    },
    required: ['team', 'level', 'skills'],
  },
  answer: z.looseObject({ team: z.string(), level: z.string(), skills: z.array(z.string()) }),
};

const terms: Question = {
  key: 'terms',
  message: 'On which terms?',
  form: {
    type: 'object',
    properties: {
      salary: { type: 'number', title: 'Salary', minimum: 0, maximum: 1_000_000 },
      daysOff: { type: 'integer', title: 'Days off', minimum: 20, maximum: 60, default: 30 },
      signed: { type: 'boolean', title: 'The contract is signed', default: false },
    },
    required: ['salary', 'daysOff', 'signed'],
  },
  answer: z.looseObject({ salary: z.number(), daysOff: z.int(), signed: z.literal(true) }),
};

const questions = [person, job, terms] as const;

export function registerOnboard(server: McpServer, { effects, states }: Toolkit): void {
  const ask = (progress: Progress, { key, message, form }: Question) =>
    inputRequired({
      requestState: states.seal(progress),
      inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema: form }) },
    });

  server.registerTool(
    'onboard',
    {
      title: 'Onboard a colleague',
      description: 'Asks three times, about the person, the job and the terms, and then creates the account',
      inputSchema: z.object({ company: z.string().min(1) }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    async ({ company }, { mcpReq }) => {
      const progress = mcpReq.requestState<Progress>();
      if (progress === undefined) return ask({ asked: 0, given: {} }, person);
      const question = questions[progress.asked] ?? person;
      const answer = inputResponse(mcpReq.inputResponses, question.key);
      if (answer.kind === 'elicit' && answer.action === 'decline') return text('nobody was onboarded: declined');
      const content = acceptedContent(mcpReq.inputResponses, question.key, question.answer);
      if (content === undefined) return ask(progress, question);
      const given = { ...progress.given, [question.key]: content };
      const next = questions[progress.asked + 1];
      if (next !== undefined) return ask({ asked: progress.asked + 1, given }, next);
      effects.perform('onboard');
      return text(`${company} onboarded ${JSON.stringify(given)}`);
    },
  );
}
