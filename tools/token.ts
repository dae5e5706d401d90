/** `npm run -s token -- --tenant t1 --sub user-1`: prints a token of the development issuer, and nothing else. */

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { helpIfAsked } from './command-line.js';
import { scopes } from '../src/auth/actor.js';
import { DevSecrets } from './dev-secrets.js';
import { devToken, usualScopes } from './dev-token.js';
import { stateDir } from './root.js';

const usage = `npm run -s token -- --tenant TENANT --sub SUBJECT [--scope "${usualScopes.join(' ')}"] [--act-for "user-1 user-2" | "*"] [--ttl 1h]\nscopes: ${scopes.join(' ')}`;
const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

helpIfAsked(`usage: ${usage}`);
try {
  console.log(await devToken(await DevSecrets.in(join(stateDir, 'secrets')), readWish(process.argv.slice(2))));
} catch (error) {
  console.error(`${(error as Error).message}\nusage: ${usage}`);
  process.exitCode = 2;
}

function readWish(args: readonly string[]): Parameters<typeof devToken>[1] {
  const { values } = parseArgs({
    args: [...args],
    options: {
      tenant: { type: 'string' },
      sub: { type: 'string' },
      scope: { type: 'string' },
      'act-for': { type: 'string' },
      ttl: { type: 'string', default: '1h' },
    },
  });
  const { tenant, sub, scope, ttl } = values;
  if (!tenant || !sub) throw new Error('--tenant and --sub are needed');
  return {
    tenant,
    sub,
    ttlSeconds: readSeconds(ttl),
    ...(scope === undefined ? {} : { scopes: words(scope) }),
    ...(values['act-for'] === undefined ? {} : { actFor: words(values['act-for']) }),
  };
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function readSeconds(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const factor = unit === undefined ? undefined : unitSeconds[unit];
  if (factor === undefined) throw new Error(`--ttl ${text}: expected a number and s, m, h or d`);
  return Number(count) * factor;
}
