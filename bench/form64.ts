/** A form of 64 fields of every kind, as a server sends it, and an answer to it. */

interface Sample {
  readonly schema: object;
  readonly value: unknown;
}

const options = Array.from({ length: 8 }, (_, n) => ({ const: `option-${n}`, title: `Option ${n}` }));

const samples: readonly Sample[] = [
  { schema: { type: 'string', minLength: 1, maxLength: 200 }, value: 'Some words, as people enter them' },
  { schema: { type: 'string', format: 'email' }, value: 'ada@example.com' },
  { schema: { type: 'string', format: 'date-time' }, value: '2027-01-04T09:00:00+01:00' },
  { schema: { type: 'number', minimum: 0, maximum: 1_000_000 }, value: 12.5 },
  { schema: { type: 'integer', minimum: 0, maximum: 100, default: 5 }, value: 7 },
  { schema: { type: 'boolean', default: false }, value: true },
  { schema: { type: 'string', oneOf: options }, value: 'option-3' },
  { schema: { type: 'array', minItems: 1, maxItems: 3, items: { anyOf: options } }, value: ['option-1', 'option-2'] },
];

const fields = Array.from({ length: 64 }, (_, n) => {
  const { schema, value } = samples[n % samples.length] as Sample;
  const words = { title: `Field ${n}`, description: `What to enter in field ${n}, in a sentence of the usual length` };
  return { name: `field${n}`, schema: { ...schema, ...words }, value };
});

/** As parsed from the wire. */
export function resultOf64Fields(): Record<string, unknown> {
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
  const requestedSchema = { type: 'object', properties, required: fields.map(({ name }) => name) };
  const form = { method: 'elicitation/create', params: { mode: 'form', message: 'All of it, please', requestedSchema } };
  return JSON.parse(JSON.stringify({ resultType: 'input_required', inputRequests: { form }, requestState: 's'.repeat(500) }));
}

export function answerOf64Fields(): Record<string, unknown> {
  return Object.fromEntries(fields.map(({ name, value }) => [name, value]));
}
