/**
 * URL mode of an elicitation (design §6, promise 5): a person is shown the exact URL and where it leads, and nothing here or anywhere
 * else in Parley fetches it. The URL must mean to a browser what it says to a reader, so everything is refused that the URL parser
 * would silently drop, mend or read in another way.
 */

import { domainToUnicode } from 'node:url';
import type { UrlInput, UrlNote } from './form.js';
import { GateRefusal } from './gate-refusal.js';
import type { GateRules } from './policy.js';
import { isMixedScript } from './scripts.js';
import { present, textAt } from './server-json.js';

/** Controls, spaces and what nobody sees; a browser strips some of them before it goes where nobody read. */
const unseen = /[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** With its authority spelled out: `https:host` and `https:///host` lead to the same place and do not look like it. */
const shape = /^(?<scheme>https?):\/\/(?<authority>[^/?#\\]+)[^\\]*$/i;

/** @throws {GateRefusal} on anything but a URL that may be shown to a person */
export function readUrl(raw: unknown, path: string, rules: GateRules): Omit<UrlInput, 'key' | 'kind' | 'message'> {
  const url = textAt(raw, path, {
    maxBytes: rules.gate.maxUrlBytes,
    malformed: 'url_malformed',
    tooLong: 'url_too_long',
  });
  if (unseen.test(url)) throw new GateRefusal('url_character_refused', path);
  if (/^[a-z][a-z0-9+.-]*:/i.test(url) && !/^https?:/i.test(url)) throw new GateRefusal('url_scheme_refused', path);

  const { scheme, authority = '' } = shape.exec(url)?.groups ?? {};
  if (scheme === undefined || !URL.canParse(url)) throw new GateRefusal('url_malformed', path);
  if (authority.includes('@')) throw new GateRefusal('url_userinfo', path);
  const { host, hostname } = new URL(url);
  const isPlain = scheme.toLowerCase() === 'http';
  if (isPlain && !(rules.allowLoopbackUrls && isLoopback(hostname))) throw new GateRefusal('url_scheme_refused', path);

  const unicodeHost = host.includes('xn--') ? domainToUnicode(hostname) : hostname;
  const notes: UrlNote[] = [
    ...(unicodeHost === hostname ? [] : (['punycode'] as const)),
    ...(unicodeHost.split('.').some(isMixedScript) ? (['mixed_script'] as const) : []),
  ];
  return { url, host, notes, ...present({ unicodeHost: unicodeHost === hostname ? undefined : unicodeHost }) };
}

/** As the URL parser spells them, which also writes every form of an IPv4 address with four numbers. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
