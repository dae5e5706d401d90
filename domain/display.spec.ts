import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayedTexts, displayForm } from './display.js';

describe('displayForm', () => {
  it.each([
    ['a null', 'a\u0000b', 'a␀b'],
    ['a tab', 'a\tb', 'a␉b'],
    ['an escape sequence', '\u001b[2Jb', '␛[2Jb'],
    ['a carriage return that would overwrite', 'good\rbad', 'good␍bad'],
    ['a line feed, which still breaks the line', 'a\nb', 'a␊\nb'],
    ['a delete', '\u007f', '␡'],
    ['a C1 control', '\u009b', '⟨U+009B⟩'],
    ['a right-to-left override', 'exe.\u202egnp', 'exe.⟨U+202E⟩gnp'],
    ['an isolate', '\u2066a\u2069', '⟨U+2066⟩a⟨U+2069⟩'],
    ['an Arabic letter mark', '\u061c', '⟨U+061C⟩'],
    ['zero width', 'a\u200bb\u200d\ufeff', 'a⟨U+200B⟩b⟨U+200D⟩⟨U+FEFF⟩'],
    ['a soft hyphen', 'pass\u00adword', 'pass⟨U+00AD⟩word'],
    ['the tag block', 'ok\u{e0041}\u{e007f}', 'ok⟨U+E0041⟩⟨U+E007F⟩'],
    ['a variation selector', 'a\ufe0f\u{e0100}', 'a⟨U+FE0F⟩⟨U+E0100⟩'],
    ['a filler', '\u3164\u115f\u2800', '⟨U+3164⟩⟨U+115F⟩⟨U+2800⟩'],
    ['a line separator', 'a\u2028b\u2029', 'a⟨U+2028⟩b⟨U+2029⟩'],
    ['half a surrogate pair', 'a\ud800', 'a⟨U+D800⟩'],
  ])('shows %s', (_, text, display) => {
    expect(displayForm(text)).toBe(display);
  });

  it.each(['', 'Deploy to prod?', 'Grüße, 東京, مرحبا, שלום', 'e\u0301', '🙂', 'a b\u00a0c'])('leaves %j as it is', (text) => {
    expect(displayForm(text)).toBe(text);
  });

  it('leaves nothing unseen but line breaks, and changes a text once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const display = displayForm(text);
        expect(display.replaceAll('␊\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u);
        expect(displayForm(display.replaceAll('␊\n', '␊'))).toBe(display.replaceAll('␊\n', '␊'));
      }),
    );
  });
});

describe('displayedTexts', () => {
  it('lists every text that is not what it looks like, member names included, each once', () => {
    const json = JSON.parse(
      '{"plain":"x","a\\u200b":[{"b":"c\\u202e"},"c\\u202e",1,null],"__proto__":"\\t","constructor":"y"}',
    ) as unknown;
    expect(displayedTexts(json)).toEqual([
      { text: 'a\u200b', display: 'a⟨U+200B⟩' },
      { text: 'c\u202e', display: 'c⟨U+202E⟩' },
      { text: '\t', display: '␉' },
    ]);
  });
});
