/**
 * The display form of foreign text (design §6, promise 5): nothing in it is unseen, reorders what stands beside it or moves the cursor.
 * The exact text is what was bound, digested and is answered; this form is only ever looked at.
 */

import { isObject } from './server-json.js';

/**
 * Controls, format characters (bidirectional ones and the tag block among them), line and paragraph separators, surrogates without
 * their half, variation selectors, fillers and whatever else a font may leave out, and the blank Braille pattern.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * @returns the text with a visible sign for each such character: `␉` for a tab and so on, `⟨U+202E⟩` for what has no picture. A line
 *   feed keeps its break behind its sign, since lines are how people read
 */
export function displayForm(text: string): string {
  return text.replace(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === '\n') return '\u240a\n';
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return '\u2421';
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

/** A text that is not what it looks like. */
export interface DisplayedText {
  readonly text: string;
  readonly display: string;
}

/** Every text within a JSON value, member names included, whose display form differs from it; each once, in the order they stand in. */
export function displayedTexts(json: unknown): DisplayedText[] {
  const texts = new Set(textsOf(json));
  return [...texts].map((text) => ({ text, display: displayForm(text) })).filter(({ text, display }) => display !== text);
}

function* textsOf(json: unknown): Generator<string> {
  if (typeof json === 'string') yield json;
  else if (Array.isArray(json)) for (const item of json) yield* textsOf(item);
  else if (isObject(json)) {
    for (const [name, value] of Object.entries(json)) {
      yield name;
      yield* textsOf(value);
    }
  }
}
