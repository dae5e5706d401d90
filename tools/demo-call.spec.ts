import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { FormField } from '../domain/form.js';
import { answerTo, curlLine, fieldLine, type OpenConsent } from './demo-call.js';

const field = (more: Partial<FormField> & { type: FormField['type'] }): FormField =>
  ({ name: more.type, required: true, ...more }) as FormField;

function aConsent(fields: readonly FormField[], key = 'target'): OpenConsent {
  const inputs = { [key]: { message: 'Where?', fields } };
  const call = { name: 'deploy', arguments: {} };
  return { id: 'cns_1', invocation: 'inv_1', digest: 'sha256:d', server: { title: 'Server' }, call, inputs };
}

const options = ['a', 'b', 'c'].map((value) => ({ value, title: value }));

describe('fieldLine', () => {
  it('lists what there is to choose from, and shows what nobody would see', () => {
    const titled = [{ value: 'a', title: 'A\u202e' }, ...options.slice(1)];
    expect(fieldLine(field({ type: 'select', options: titled }))).toBe(
      '"select" (select, required): "a" "A\\u{202e}" | "b" | "c"',
    );
    expect(fieldLine(field({ type: 'boolean', required: false }))).toBe('"boolean" (boolean)');
  });
});

describe('answerTo', () => {
  it.each<[FormField, unknown]>([
    [field({ type: 'select', options }), 'a'],
    [field({ type: 'select', options, default: 'b' }), 'b'],
    [field({ type: 'multiselect', options, minItems: 2 }), ['a', 'b']],
    [field({ type: 'boolean', default: false }), true],
    [field({ type: 'integer', minimum: 3 }), 3],
    [field({ type: 'number', maximum: -1 }), -1],
    [field({ type: 'string', minLength: 4 }), 'xxxx'],
    [field({ type: 'string', format: 'date' }), '2026-12-01'],
  ])('fits %j', (asked, value) => {
    expect(answerTo(aConsent([asked])).responses).toEqual({ target: { action: 'accept', content: { [asked.name]: value } } });
  });
});

describe('curlLine', () => {
  it("gives a shell nothing of the server's words to run", () => {
    const evil = `'; touch /tmp/x; echo '$(id)`;
    const consent = aConsent([field({ type: 'select', options: [{ value: evil, title: 'x' }] })], evil);
    const line = curlLine({ apiUrl: 'http://127.0.0.1:1' } as never, consent);
    const args = `curl() { shift $(($# - 1)); printf %s "$1"; }; npm() { :; }; ${line}`;
    expect(JSON.parse(execFileSync('sh', ['-c', args], { encoding: 'utf8' }))).toEqual(answerTo(consent));
  });
});
