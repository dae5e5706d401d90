/** The documents say what is so: every name in them leads somewhere, and what the code has they have (docs/README.md). */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outcomes } from '../domain/outcome.js';
import { defaultPolicy } from '../domain/policy.js';
import { reasons } from '../domain/reasons.js';
import { auditTypes } from '../src/audit/audit.js';
import { scopes } from '../src/auth/actor.js';
import { Config } from '../src/config/config.js';
import { describeApi } from '../src/openapi/openapi.js';
import { policySchema } from '../src/servers/policy.schema.js';
import { Keys } from '../src/store/keys.js';
import { codesPage } from '../tools/codes-page.js';
import { root } from '../tools/root.js';
import { searchAttributes } from '../tools/temporal-server.js';
import { type ApiInProcess, startApiInProcess } from './harness/api-in-process.js';
import { promises } from './promises.js';

const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
].filter((path) => path.endsWith('.md'));

/** What `pattern`'s first group finds, each once. */
const found = (source: string, pattern: RegExp): string[] => [
  ...new Set([...source.matchAll(pattern)].map(([, match]) => match ?? '')),
];
/** From one heading to the next of the same or a higher level. */
function section(page: string, heading: string): string {
  const [, after] = text(page).split(`\n${heading}\n`);
  if (after === undefined) throw new Error(`${page} has no heading ${heading}`);
  const level = heading.split(' ')[0]?.length ?? 0;
  return after.split(new RegExp(`\n#{1,${level}} `))[0] ?? '';
}
/** In backticks, in the first cell of a table's rows. */
const firstCells = (source: string): string[] =>
  source
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => found(line.split(' | ')[0] ?? '', /`([^`]+)`/g));
/** As GitHub makes it of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
const anchorsOf = (page: string): string[] => found(text(page), /^#+ (.*)$/gm).map(anchorOf);

describe.each(pages)('%s', (page) => {
  it('has links that lead to a page, and to a heading of it', () => {
    const links = found(text(page), /\]\(([^)]+)\)/g).filter((link) => !/^https?:/.test(link));
    const isDead = (link: string): boolean => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    };
    expect(links.filter(isDead)).toEqual([]);
  });

  it('names files and folders that are there', () => {
    const folders = 'domain|workflows|activities|src|tools|examples|test|bench|docs|compose';
    // tools/call and tools/list are methods of MCP.
    const paths = new RegExp(`(?<![\\w/.-])(?!tools/(?:call|list)\\b)((?:dist/)?(?:${folders})/[\\w./-]*\\w)`, 'g');
    const named = found(text(page), paths);
    const isThere = (path: string) => [path, `${path}.ts`].some((each) => existsSync(join(root, each)));
    // A built script stands for its source; the bundle of the workflows has none.
    const sources = named.map((path) => path.replace(/^dist\/(.*)\.js$/, '$1.ts'));
    expect(sources.filter((path) => !isThere(path))).toEqual([]);
  });

  it('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const named = found(text(page), /npm run (?:-s )?([a-z][\w:-]*)/g);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe('docs/README.md', () => {
  it('names the home of every page', () => {
    const homes = found(text('docs/README.md'), /\]\(([^)#]+)\)/g).map((path) => join('docs', path));
    expect(pages.filter((page) => page !== 'docs/README.md' && !homes.includes(page))).toEqual([]);
  });
});

describe('docs/codes.md', () => {
  it('is what `npm run docs:codes` writes', () => {
    expect(text('docs/codes.md')).toBe(codesPage());
  });
});

describe('docs/configuration.md', () => {
  it('has every variable that is read, and no other', () => {
    const read = new Set<string>();
    const environment = new Proxy({}, { get: (_, name) => void read.add(String(name)) });
    for (const process of ['api', 'worker'] as const)
      expect(() => Config.read(process, environment)).toThrow('docs/configuration.md');
    const documented = found(section('docs/configuration.md', '## Environment'), /`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`/g);
    expect(read.size).toBeGreaterThan(15);
    expect(documented.sort()).toEqual([...read].sort());
  });

  it('has every scope', () => {
    const tokens = section('docs/configuration.md', '## Tokens');
    expect(scopes.filter((scope) => !tokens.includes(`\`${scope}\``))).toEqual([]);
  });
});

describe('docs/servers.md', () => {
  it('has every member of a policy, and no other', () => {
    const { gate, allow, ...own } = policySchema.shape;
    const within = (name: 'gate' | 'allow') => Object.keys(defaultPolicy[name]).map((member) => `${name}.${member}`);
    const members = [...Object.keys(own), ...within('allow'), ...within('gate')];
    expect(gate && allow).toBeDefined();
    expect(firstCells(section('docs/servers.md', '## Policy')).sort()).toEqual(members.sort());
  });
});

describe('docs/words.md', () => {
  it('has every promise as the tests cite it', () => {
    const page = section('docs/words.md', '## 2. Promises');
    for (const [id, promise] of Object.entries(promises)) expect(page).toContain(`**${id}. ${promise}.**`);
  });

  it('has every outcome with its reasons, and no other', () => {
    const life = section('docs/words.md', '## 3. Life of a call');
    const rows = life.split('\n').filter((line) => line.startsWith('| `'));
    expect(firstCells(rows.join('\n'))).toEqual([...outcomes]);
    for (const row of rows) {
      const [, outcome = '', , named = ''] = row.split('|');
      const own = Object.entries(reasons).filter(([, kind]) => `\`${kind.outcome}\`` === outcome.trim());
      expect(found(named, /`(\w+)`/g)).toEqual(own.map(([reason]) => reason));
    }
  });
});

describe('docs/operations.md', () => {
  it('says what to do about every outcome', () => {
    expect(firstCells(section('docs/operations.md', '## What to do about each outcome'))).toEqual([...outcomes]);
  });

  it('has every key of the store, and no other', () => {
    const keys = new Keys('p');
    const makers = Object.getOwnPropertyNames(Keys.prototype).filter((name) => !['constructor', 'key'].includes(name));
    const names = makers.map((name) => (keys as any)[name]('a', 'b', 1).split(':')[1]);
    const documented = firstCells(section('docs/operations.md', '## What is stored where')).map((cell) =>
      cell.replace(/:…$/, ''),
    );
    expect(documented.sort()).toEqual(names.sort());
  });

  it('has every search attribute', () => {
    const page = section('docs/operations.md', '## Temporal');
    expect(Object.keys(searchAttributes).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('has every event of the log, and no other', () => {
    const files = ['src', 'activities'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    );
    const sources = files
      .filter((path) => /(?<!\.spec)\.ts$/.test(path))
      .map(text)
      .join('\n');
    const written = found(sources, /(?:\bevent: |\.note\(actor, )'(\w+)'/g);
    const documented = firstCells(section('docs/operations.md', '## The log'));
    expect(documented.sort()).toEqual(written.sort());
  });
});

describe('docs/rest.md', () => {
  let api: ApiInProcess;
  beforeAll(async () => {
    api = await startApiInProcess();
  });
  afterAll(() => api.close());

  it('has every route of the description, and no other', () => {
    const described = Object.entries(describeApi(api.app).paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.length).toBeGreaterThan(10);
    expect(firstCells(section('docs/rest.md', '## Routes')).sort()).toEqual(described.sort());
  });

  it('names only types of audit events that there are', () => {
    const documented = firstCells(section('docs/rest.md', '## The audit record')).filter((name) => name !== 'type');
    expect(documented.length).toBeGreaterThan(3);
    expect(auditTypes).toEqual(expect.arrayContaining(documented));
  });
});
