import { describe, expect, it } from 'vitest';
import { gate } from './gate.js';
import { defaultPolicy } from './policy.js';

const declared = { elicitation: { form: {}, url: {} } };
const judge = (url: unknown, more: object = {}) =>
  gate(
    'tools/call',
    {
      resultType: 'input_required',
      inputRequests: { a: { method: 'elicitation/create', params: { mode: 'url', message: 'Sign in', url } } },
    },
    declared,
    { ...defaultPolicy, ...more },
  );
const inputOf = (url: string, more: object = {}) => {
  const verdict = judge(url, more);
  return verdict.is === 'round' ? verdict.round.inputs[0] : verdict;
};

describe('readUrl', () => {
  it.each([
    ['https://example.com', 'example.com'],
    ['HTTPS://Example.COM:443/a?b=c%20d#e', 'example.com'],
    ['https://example.com:8443/%E2%80%AE', 'example.com:8443'],
    ['https://0x7f.1/', '127.0.0.1'],
    ['https://[::1]:9/', '[::1]:9'],
    ['https://example.com/?next=https://user@other.example', 'example.com'],
  ])('keeps %s exact and says that it leads to %s', (url, host) => {
    expect(inputOf(url)).toEqual({ key: 'a', kind: 'url', message: 'Sign in', url, host, notes: [] });
  });

  it.each([
    ['https://пример.рф/', 'xn--e1afmkfd.xn--p1ai', 'пример.рф', ['punycode']],
    ['https://xn--e1afmkfd.xn--p1ai:9/', 'xn--e1afmkfd.xn--p1ai:9', 'пример.рф', ['punycode']],
    ['https://pаypal.com/', 'xn--pypal-4ve.com', 'pаypal.com', ['punycode', 'mixed_script']],
    ['https://日本語ひらカナ.jp/', 'xn--y9j3b8e6e154zcvb2w6i.jp', '日本語ひらカナ.jp', ['punycode']],
  ])('points out in %s what does not read as it is spelled', (url, host, unicodeHost, notes) => {
    expect(inputOf(url)).toMatchObject({ url, host, unicodeHost, notes });
  });

  it.each([
    ['url_malformed', 5],
    ['url_malformed', undefined],
    ['url_malformed', ''],
    ['url_malformed', '/sign-in'],
    ['url_malformed', '//example.com/'],
    ['url_malformed', 'https:example.com'],
    ['url_malformed', 'https:///example.com'],
    ['url_malformed', 'https:\\\\example.com'],
    ['url_malformed', 'https://good.example\\@evil.example/'],
    ['url_malformed', 'https://example.com/a\\b'],
    ['url_malformed', 'https://exa<mple.com/'],
    ['url_malformed', 'https://example.com:99999/'],
    ['url_scheme_refused', 'http://example.com/'],
    ['url_scheme_refused', 'http://127.0.0.1/'],
    ['url_scheme_refused', 'javascript:alert(1)'],
    ['url_scheme_refused', 'JavaScript://example.com/%0aalert(1)'],
    ['url_scheme_refused', 'data:text/html,x'],
    ['url_scheme_refused', 'file:///etc/passwd'],
    ['url_scheme_refused', 'ftp://example.com/'],
    ['url_userinfo', 'https://good.example@evil.example/'],
    ['url_userinfo', 'https://user:secret@example.com/'],
    ['url_userinfo', 'https://@example.com/'],
    ['url_character_refused', 'https://example.com/\n'],
    ['url_character_refused', 'java\tscript:alert(1)'],
    ['url_character_refused', ' https://example.com/'],
    ['url_character_refused', 'https://example.com/\u202Egnp.exe'],
    ['url_character_refused', 'https://exam\u00ADple.com/'],
    ['url_character_refused', 'https://example.com/\u{E0041}'],
    ['text_not_unicode', 'https://example.com/\ud800'],
    ['url_too_long', `https://example.com/${'a'.repeat(8 * 1024)}`],
  ])('refuses with %s %j', (code, url) => {
    expect(judge(url)).toEqual({ is: 'refused', code, key: 'a', path: '/inputRequests/a/params/url' });
  });

  it.each(['http://localhost:8080/x', 'http://127.8.0.1/', 'http://[::1]/', 'http://0x7f.1/'])(
    'takes %s where the policy allows loopback',
    (url) => {
      expect(judge(url)).toMatchObject({ code: 'url_scheme_refused' });
      expect(inputOf(url, { allowLoopbackUrls: true })).toMatchObject({ kind: 'url', url });
    },
  );

  it.each(['http://localhost.example.com/', 'http://127.0.0.1.example.com/', 'http://10.0.0.1/', 'http://[::2]/'])(
    'refuses %s even there',
    (url) => {
      expect(judge(url, { allowLoopbackUrls: true })).toMatchObject({ code: 'url_scheme_refused' });
    },
  );
});
