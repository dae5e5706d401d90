/**
 * Fields that ask for a secret (design §6, promise 5): the specification forbids a form to ask for passwords, keys, tokens or card
 * data, since whoever carries the form sees the answer. A guess from the words a person would read; a server that wants to hide
 * what it asks for can, so the refusal protects against the careless, and the policy against the rest.
 */

import type { FormField } from './form.js';
import { GateRefusal } from './gate-refusal.js';
import { pointerTo } from './json-pointer.js';
import type { SecretFields } from './policy.js';

/** Unmistakable wherever they stand, in a description too. Words are in lower case, with one space between them. */
const phrases = new RegExp(
  [
    String.raw`\b(?:pass ?words?|pass ?wds?|pass ?phrases?|pass ?codes?|pwd|passwort|kennwort|contrasena|mot de passe|senha)\b`,
    'пароль|密码|密碼|パスワード|비밀번호|암호',
    String.raw`\b(?:api|access|secret|private|ssh|signing|encryption|auth|account|master|recovery|service|pgp|gpg|webhook) ?keys?\b`,
    String.raw`\b(?:api|access|auth|bearer|refresh|session|id|personal access|oauth|security|bot) ?tokens?\b`,
    String.raw`\bclient ?secret\b|\b(?:recovery|seed|secret|mnemonic) ?(?:phrase|words)\b`,
    String.raw`\b(?:credit|debit|payment|bank) ?cards? ?(?:numbers?|no|nr|details|data)?\b|\bcard ?(?:numbers?|no|nr|details|data|holder)\b`,
    String.raw`\b(?:cvv2?|cvc2?|cvn|card security code|security code)\b`,
    String.raw`\b(?:otp|totp|(?:one ?time|verification|2 ?fa|mfa|two factor|authenticator) ?(?:codes?|pins?|password))\b`,
  ].join('|'),
  'u',
);

/** Enough in the name or title of a text, and too common in a description. */
const words = /\b(?:tokens?|secrets?|credentials?|pin|pins|pin ?codes?|jwt|apikey)\b/u;

/** Formats whose values are no secret, whatever the field is called ("password expires on"). */
const harmless: ReadonlySet<string | undefined> = new Set(['email', 'date', 'date-time']);

/** @returns whether a person would take the field to ask for a password, a key, a token or card data */
export function looksSecret(field: FormField): boolean {
  const isText = field.type === 'string' && !harmless.has(field.format);
  const isNumber = field.type === 'number' || field.type === 'integer';
  if (!isText && !isNumber) return false;
  const labels = [field.name, field.title ?? ''].map(wordsOf);
  if ([...labels, wordsOf(field.description ?? '')].some((label) => phrases.test(label))) return true;
  // A number of tokens is a measure.
  return isText && labels.some((label) => words.test(label));
}

/**
 * @param path of the form's properties
 * @returns the fields, with a warning on those that look secret
 * @throws {GateRefusal} `secret_field` where the policy refuses them
 */
export function guardSecrets(fields: readonly FormField[], path: string, how: SecretFields): readonly FormField[] {
  return fields.map((field) => {
    if (!looksSecret(field)) return field;
    if (how !== 'warn') throw new GateRefusal('secret_field', pointerTo(path, field.name));
    return { ...field, warning: 'secret' };
  });
}

/** In plain letters and lower case: what is unseen is left out, `camelCase`, `snake_case` and signs are spaces, accents are dropped. */
function wordsOf(label: string): string {
  return label
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
    .normalize('NFKD')
    .replace(/(?<=\p{Script=Latin})\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
