/** Which writing systems a word mixes: a Cyrillic letter between Latin ones reads as another name (UTS 39, mixed-script detection). */

/** Each of them alone, and then the sets that ordinary words of one language are written in. */
const together = [
  ...['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Hebrew', 'Arabic', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Tamil'],
  ...['Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Thai', 'Lao', 'Tibetan', 'Myanmar', 'Georgian', 'Ethiopic', 'Khmer'],
  ...['Han Hiragana Katakana', 'Han Hangul', 'Han Bopomofo'],
].map((scripts) => {
  const members = ['Common', 'Inherited', ...scripts.split(' ')].map((script) => `\\p{Script_Extensions=${script}}`);
  return new RegExp(`^[${members.join('')}]*$`, 'u');
});

/** @returns whether no language is written so, digits and signs aside; a script that is not known here counts as a mixture */
export function isMixedScript(word: string): boolean {
  return !together.some((scripts) => scripts.test(word));
}
