/** The lines of the README and of docs/servers.md, run as they stand, answer as shown there. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from '../tools/root.js';
import { startParley, until, type Parley, type WrittenServer } from './harness/parley.js';

const run = promisify(execFile);
const bash = (script: string, env: NodeJS.ProcessEnv) => run('bash', ['-euo', 'pipefail', '-c', script], { cwd: root, env });
const contentOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const readme = contentOf('README.md');

interface Line {
  readonly command: string;
  readonly status: number;
  readonly shown: unknown;
}

const checked = '<!-- checked -->\n```';
/** A checked block, and the reply that is shown right after it. */
const blocksOf = (page: string) =>
  page
    .split(`${checked}bash\n`)
    .slice(1)
    .map((rest) => {
      const [command = '', after = ''] = rest.split('\n```\n', 2);
      const reply = /^```jsonc\n\/\/ (\d{3})\n([^]*?)(?:\n```|$)/.exec(after);
      return { command, status: Number(reply?.[1]), reply: reply?.[2] };
    });
const linesOf = (page: string): Line[] =>
  blocksOf(page).flatMap(({ command, status, reply }) =>
    reply === undefined ? [] : [{ command, status, shown: parseShown(reply) }],
  );
const setup = blocksOf(readme).flatMap(({ command, reply }) => (reply === undefined ? [command] : []));

/** The registry that a page shows and has checked. */
function registryOf(page: string): WrittenServer[] {
  const [, shown = ''] = page.split(`${checked}yaml\n`);
  return (parse(shown.split('\n```\n')[0] ?? '') as { servers?: WrittenServer[] } | null)?.servers ?? [];
}

/** A `…` that stands for members becomes one of that name. */
function parseShown(text: string): unknown {
  return JSON.parse(text.replaceAll(/"(?:\\.|[^"\\])*"|…/g, (token) => (token === '…' ? '"…":true' : token)));
}

/** Where `actual` is not what is shown, as pointers. */
function differences(shown: unknown, actual: unknown, path = ''): string[] {
  if (typeof shown === 'string' && typeof actual === 'string') return isAlike(shown, actual) ? [] : [`${path}: ${actual}`];
  if (Array.isArray(shown) && Array.isArray(actual)) {
    if (shown.length !== actual.length) return [`${path}: ${actual.length} items`];
    return shown.flatMap((item, index) => differences(item, actual[index], `${path}/${index}`));
  }
  if (!isObject(shown) || !isObject(actual)) return Object.is(shown, actual) ? [] : [`${path}: ${JSON.stringify(actual)}`];
  const { '…': isPartial, ...members } = shown;
  const unknown = isPartial === true ? [] : Object.keys(actual).filter((name) => !(name in members));
  return [
    ...unknown.map((name) => `${path}/${name} is not shown`),
    ...Object.keys(members).flatMap((name) =>
      Object.hasOwn(actual, name) ? differences(members[name], actual[name], `${path}/${name}`) : [`${path}/${name} is missing`],
    ),
  ];
}

/** Text that is shown shortened is random after its prefix; instants are other ones at every run. */
function isAlike(shown: string, actual: string): boolean {
  if (!shown.includes('…')) return isInstant(shown) ? isInstant(actual) : shown === actual;
  const prefix = /^(?:(?:inv|cns|rct)_|sha256:|eyJ)/.exec(shown)?.[0];
  return prefix !== undefined && actual.startsWith(prefix) && actual.length > shown.length;
}

function isInstant(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

describe('the README', () => {
  it('has its shell blocks checked, but for the two that run this', () => {
    const all = readme.split('```bash\n').length - 1;
    expect(linesOf(readme).length).toBeGreaterThanOrEqual(5);
    expect(all - blocksOf(readme).length).toBe(1);
    expect(readme).toContain('```bash\nnpm ci && npm run demo');
    expect(readme).toContain('\nnpm ci && npm test');
  });

  it('gives the outcome of a comparison that can fail', () => {
    const shown = { id: 'inv_b9…81', at: '2026-11-30T11:32:27.373Z', n: 1, more: { a: 1, '…': true } };
    const actual = { id: `inv_${'0'.repeat(32)}`, at: '2027-01-01T00:00:00.000Z', n: 1, more: { a: 1, b: 2 } };
    expect(differences(shown, actual)).toEqual([]);
    for (const wrong of [{ id: 'cns_0000000000000' }, { at: null }, { n: 2 }, { more: {} }, { extra: 1 }])
      expect(differences(shown, { ...actual, ...wrong })).toHaveLength(1);
  });
});

const pages = [
  { page: 'README.md', expected: { lines: 5, servers: 0, deploys: 1 } },
  { page: 'docs/servers.md', expected: { lines: 1, servers: 1, deploys: undefined } },
];

describe.skipIf(!hasCurl).each(pages)('the curl lines of $page', ({ page, expected }) => {
  const servers = registryOf(contentOf(page));
  const lines = linesOf(contentOf(page));
  let parley: Parley;
  let curlHome: string;
  beforeAll(async () => {
    parley = await startParley({ servers });
    curlHome = await mkdtemp(join(tmpdir(), 'parley-curl-'));
    // The status after the body, and no proxy, without a word of it in the README.
    await writeFile(join(curlHome, '.curlrc'), 'write-out = "\\n%{http_code}"\nnoproxy = "*"\n');
  });
  afterAll(async () => {
    await parley?.stop();
    await rm(curlHome, { recursive: true, force: true });
  });

  /** The environment after the blocks that show no reply. */
  async function prepared(): Promise<NodeJS.ProcessEnv> {
    const commands = setup.join('\n').replace('http://127.0.0.1:8080', parley.urls.api);
    const env = { ...process.env, PARLEY_STATE: parley.dir, CURL_HOME: curlHome };
    const { stdout } = await bash(`set -a\n${commands}\nenv -0`, env);
    return Object.fromEntries(stdout.split('\0').map((line) => line.split(/=([^]*)/, 2)));
  }

  async function replyTo(command: string, env: NodeJS.ProcessEnv): Promise<{ status: number; body: Record<string, unknown> }> {
    const { stdout } = await bash(command, env);
    const at = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(at)), body: JSON.parse(stdout.slice(0, at)) };
  }

  it('answer in their order as it shows [P3]', async () => {
    expect([lines.length, servers.length]).toEqual([expected.lines, expected.servers]);
    const env = await prepared();
    for (const { command, status, shown } of lines) {
      let last = '';
      // Every one may be repeated: a call goes on in its own time, and an Idempotency-Key gets the first reply again.
      const body = await until(
        async () => {
          const reply = await replyTo(command, env);
          const wrong = [...(reply.status === status ? [] : [`status ${reply.status}`]), ...differences(shown, reply.body)];
          last = wrong.join('\n');
          return wrong.length === 0 ? reply.body : undefined;
        },
        20_000,
        'the reply that is shown',
        200,
      ).catch((error: unknown) => {
        throw new Error(`${command}\n${last}`, { cause: error });
      });
      for (const [name, value] of Object.entries(body)) if (typeof value === 'string') env[name.toUpperCase()] = value;
    }
    expect(parley.example.effects().byTool['deploy']).toBe(expected.deploys);
  }, 120_000);
});
