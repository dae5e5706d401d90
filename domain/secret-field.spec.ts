import { describe, expect, it } from 'vitest';
import type { FormField } from './form.js';
import { gate } from './gate.js';
import { defaultPolicy } from './policy.js';
import { looksSecret } from './secret-field.js';

const text = (name: string, more: Partial<FormField> = {}) => ({ name, required: true, type: 'string', ...more }) as FormField;

describe('looksSecret', () => {
  it.each([
    ...['password', 'Password', 'user_password', 'newPassword', 'PASSWD', 'pwd', 'passphrase', 'passcode', 'pass-word'],
    ...[
      'apiKey',
      'API key',
      'APIKey',
      'api_key',
      'OPENAI_API_KEY',
      'accessKey',
      'privateKey',
      'ssh-key',
      'secret',
      'clientSecret',
    ],
    ...[
      'token',
      'accessToken',
      'GITHUB_TOKEN',
      'bearer token',
      'credentials',
      'pin',
      'PIN code',
      'otp',
      '2FA code',
      'one-time code',
    ],
    ...['cardNumber', 'card_number', 'Credit card', 'cvv', 'CVC', 'security code', 'seed phrase', 'recoveryKey'],
    ...[
      'pass\u200bword',
      'ｐａｓｓｗｏｒｄ',
      'contraseña',
      'Mot de passe',
      'Passwort',
      'пароль',
      '密码',
      'パスワード',
      '비밀번호',
    ],
  ])('takes a text called %j for one', (name) => {
    expect(looksSecret(text(name))).toBe(true);
    expect(looksSecret(text('value', { title: name }))).toBe(true);
  });

  it('reads the description for what is unmistakable', () => {
    expect(looksSecret(text('value', { description: 'Paste your API key here.' }))).toBe(true);
    expect(looksSecret(text('value', { description: 'Split into tokens.' }))).toBe(false);
  });

  it.each([
    ...[
      'key',
      'keyword',
      'name',
      'environment',
      'passenger',
      'compass',
      'tokenizer',
      'pinned',
      'cardinal',
      'secretary',
      'opinion',
    ],
    ...['primary key', 'monkey', 'passport expiry', 'broadcast', 'postcard', 'spin', 'id'],
  ])('does not take a text called %j for one', (name) => {
    expect(looksSecret(text(name))).toBe(false);
  });

  it('goes by what the field takes', () => {
    expect(looksSecret({ name: 'rotateToken', required: true, type: 'boolean' })).toBe(false);
    expect(looksSecret({ name: 'token', required: true, type: 'select', options: [{ value: 'a', title: 'A' }] })).toBe(false);
    expect(looksSecret({ name: 'maxTokens', required: true, type: 'integer' })).toBe(false);
    expect(looksSecret({ name: 'cvv', required: true, type: 'integer' })).toBe(true);
    expect(looksSecret(text('passwordExpiresOn', { format: 'date' } as Partial<FormField>))).toBe(false);
  });
});

describe('gate', () => {
  const properties = { user: { type: 'string' }, 'pass/word': { type: 'string' } };
  const raw = {
    resultType: 'input_required',
    inputRequests: {
      a: { method: 'elicitation/create', params: { message: 'Log in', requestedSchema: { type: 'object', properties } } },
    },
  };
  const judge = (secretFields: 'refuse' | 'warn') =>
    gate('tools/call', raw, { elicitation: { form: {} } }, { ...defaultPolicy, secretFields });

  it('refuses a form with such a field and says which (secret_field)', () => {
    const path = '/inputRequests/a/params/requestedSchema/properties/pass~1word';
    expect(judge('refuse')).toEqual({ is: 'refused', code: 'secret_field', key: 'a', path });
    expect(judge(defaultPolicy.secretFields)).toMatchObject({ code: 'secret_field' });
  });

  it('warns instead where the policy says so', () => {
    const verdict = judge('warn');
    const [input] = verdict.is === 'round' ? verdict.round.inputs : [];
    expect(input).toMatchObject({
      fields: [
        { name: 'user', required: false, type: 'string' },
        { name: 'pass/word', required: false, type: 'string', warning: 'secret' },
      ],
    });
    expect(JSON.stringify(input).match(/warning/g)).toHaveLength(1);
  });
});
