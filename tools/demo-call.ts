/** The demonstration's two people: an agent that starts a call on somebody's behalf, and that somebody. */

import type { FormField } from '../domain/form.js';
import type { DevSecrets } from './dev-secrets.js';
import { devToken } from './dev-token.js';
import { rest, type RestReply } from './rest.js';
import { exampleServerId, type Stack } from './stack.js';
import { until } from './until.js';

const tenant = 'demo';
const person = 'user-1';
const agent = 'agent-1';

export interface OpenConsent {
  readonly id: string;
  readonly invocation: string;
  readonly digest: string;
  readonly server: { readonly title: string };
  readonly call: { readonly name: string; readonly arguments: unknown };
  readonly inputs: Readonly<Record<string, { readonly message: string; readonly fields: readonly FormField[] }>>;
}

export interface EndedCall {
  readonly id: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly leg: number;
  readonly round: number;
  readonly result: unknown;
}

/** Has the deploy tool called for {@link person}; returns the invocation's id at once. */
export async function startCall(stack: Stack, key: string): Promise<string> {
  const token = await tokenOf(stack.secrets, agent);
  const body = {
    server: exampleServerId,
    method: 'tools/call',
    params: { name: 'deploy', arguments: { artifact: 'build-42' } },
    subject: person,
  };
  return expectOk(await rest(stack.apiUrl, token, '/v1/invocations', { body, idempotencyKey: key })).id;
}

/** The consent that a call waits for. Rejects when the call ends without asking. */
export async function consentOf(stack: Stack, invocation: string): Promise<OpenConsent> {
  const token = await tokenOf(stack.secrets, agent);
  const asked = await until(
    async () => {
      const { body } = await rest(stack.apiUrl, token, `/v1/invocations/${invocation}`);
      return body?.status === 'awaiting_input' || body?.status === 'closed' ? body : undefined;
    },
    60_000,
    'a question',
  );
  if (asked.consent === null) throw new Error(`the call ended without a question: ${asked.outcome} (${asked.reason})`);
  return await consent(stack, asked.consent);
}

/** Everything that waits for {@link person}, oldest first. */
export async function openConsents(stack: Stack): Promise<OpenConsent[]> {
  const { items } = expectOk(await rest(stack.apiUrl, await tokenOf(stack.secrets, person), '/v1/consents?limit=20'));
  return await Promise.all((items as { id: string }[]).toReversed().map(({ id }) => consent(stack, id)));
}

async function consent(stack: Stack, id: string): Promise<OpenConsent> {
  return expectOk(await rest(stack.apiUrl, await tokenOf(stack.secrets, person), `/v1/consents/${id}`)) as OpenConsent;
}

/** An answer as a person in a hurry gives it: accept, with the defaults or the first choice. */
export function answerTo({ digest, inputs }: OpenConsent): { digest: string; responses: Record<string, unknown> } {
  const responses = Object.entries(inputs).map(([key, { fields }]) => {
    const content = Object.fromEntries(fields.map((field) => [field.name, valueFor(field)]));
    return [key, { action: 'accept', content }];
  });
  return { digest, responses: Object.fromEntries(responses) };
}

export async function giveAnswer(stack: Stack, asked: OpenConsent): Promise<void> {
  const request = { body: answerTo(asked), idempotencyKey: `answer-${asked.id}` };
  expectOk(await rest(stack.apiUrl, await tokenOf(stack.secrets, person), `/v1/consents/${asked.id}/answer`, request));
}

/** @returns nothing while the call is open */
export async function endOf(stack: Stack, invocation: string): Promise<EndedCall | undefined> {
  const { body } = await rest(stack.apiUrl, await tokenOf(stack.secrets, person), `/v1/invocations/${invocation}`);
  return body?.status === 'closed' ? (body as EndedCall) : undefined;
}

/** Effects that the example server counted, of this process's life. */
export async function effectsOf(stack: Stack): Promise<number> {
  return ((await (await fetch(new URL('/effects', stack.exampleUrl))).json()) as { effects: number }).effects;
}

/** One field of a form as it is shown in a terminal, with what there is to choose from. */
export function fieldLine(field: FormField): string {
  const line = `${visible(field.name)} (${field.type}${field.required ? ', required' : ''})`;
  if (!('options' in field)) return line;
  const choices = field.options.map(({ value, title }) => visible(value) + (title === value ? '' : ` ${visible(title)}`));
  return `${line}: ${choices.join(' | ')}`;
}

/** A server's words for a terminal: control, bidirectional and invisible characters show as what they are. */
export function visible(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.replaceAll(/\p{C}/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

/** The line that answers a consent from another terminal. */
export function curlLine(stack: Stack, asked: OpenConsent): string {
  return [
    `curl -sS ${stack.apiUrl}/v1/consents/${asked.id}/answer`,
    `-H "Authorization: Bearer $(npm run -s token -- --tenant ${tenant} --sub ${person})"`,
    `-H 'Content-Type: application/json' -H 'Idempotency-Key: answer-${asked.id}'`,
    `-d ${quoted(JSON.stringify(answerTo(asked)))}`,
  ].join(' \\\n    ');
}

/** For a shell: everything between single quotes is literal. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function valueFor(field: FormField): unknown {
  switch (field.type) {
    case 'select':
      return field.default ?? field.options[0]?.value;
    case 'multiselect':
      return field.default ?? field.options.slice(0, Math.max(1, field.minItems ?? 1)).map(({ value }) => value);
    case 'boolean':
      return true;
    case 'number':
    case 'integer':
      return field.default ?? field.minimum ?? field.maximum ?? 1;
    case 'string':
      return field.default ?? sampleText(field.format) ?? 'x'.repeat(Math.max(1, field.minLength ?? 1));
  }
}

function sampleText(format: 'email' | 'uri' | 'date' | 'date-time' | undefined): string | undefined {
  if (format === undefined) return undefined;
  return { email: 'user@example.com', uri: 'https://example.com/', date: '2026-12-01', 'date-time': '2026-12-01T12:00:00Z' }[
    format
  ];
}

async function tokenOf(secrets: DevSecrets, sub: string): Promise<string> {
  return await devToken(secrets, { tenant, sub, ...(sub === agent ? { actFor: [person] } : {}) });
}

// oxlint-disable-next-line typescript/no-explicit-any
function expectOk({ status, body, text }: RestReply): any {
  if (status >= 400) throw new Error(`Parley answered ${status}: ${text}`);
  return body;
}
