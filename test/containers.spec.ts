/** The container files cannot be run everywhere: this reads them, and holds every name in them against the checkout. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { root } from '../tools/root.js';
import { searchAttributes } from '../tools/temporal-server.js';

interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly target: string };
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly restart?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly network_mode?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const document = parseDocument(text('docker-compose.yml'), { merge: true, strict: true });
const compose = document.toJS() as { services: Record<string, ComposeService>; volumes: Record<string, unknown> };
const services = Object.entries(compose.services);
const each = services.map(([name, service]) => ({ name, service }));

/** One instruction per entry, continuation lines joined. */
const instructions = text('Dockerfile')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ line, keyword: line.split(/\s+/)[0]!, words: line.split(/\s+/).slice(1) }));
const stages = instructions.filter(({ keyword }) => keyword === 'FROM').map(({ words }) => words[2]!);

/** A built script stands for its source. */
function sourceOf(script: string): string {
  return script.replace(/^dist\//, '').replace(/\.js$/, '.ts');
}

describe('docker-compose.yml', () => {
  it('is YAML without errors or warnings', () => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
  });

  it('holds Postgres, Temporal and its UI, Valkey, the API, the worker and the example server', () => {
    const expected = ['postgres', 'temporal', 'temporal-ui', 'valkey', 'api', 'worker', 'example'];
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(expected));
  });

  it.each(each)('pins the version of $name', ({ service }) => {
    expect(service.image).toMatch(/^[a-z0-9/-]+:\d+(\.\d+)+$/);
  });

  it.each(each.filter(({ service }) => service.build !== undefined))(
    'builds $name from a stage of the Dockerfile',
    ({ service }) => {
      expect(service.build?.context).toBe('.');
      expect(stages).toContain(service.build?.target);
    },
  );

  it.each(each.filter(({ service }) => service.restart !== undefined))('checks the health of $name', ({ service }) => {
    expect(service.healthcheck?.test[0]).toBe('CMD');
  });

  it.each(each)('waits in $name for what exists and for what it can become', ({ service }) => {
    for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
      const other = compose.services[name];
      expect(other, name).toBeDefined();
      const possible = other?.restart === undefined ? ['service_completed_successfully'] : ['service_started', 'service_healthy'];
      expect(possible).toContain(condition);
    }
    const shared = service.network_mode?.replace(/^service:/, '');
    expect(shared === undefined || shared in compose.services).toBe(true);
  });

  it.each(each)('mounts into $name only files of the checkout and declared volumes', ({ service }) => {
    for (const mount of service.volumes ?? []) {
      const source = mount.split(':')[0]!;
      const isThere = source.startsWith('./') ? existsSync(join(root, source)) : source in compose.volumes;
      expect(isThere, source).toBe(true);
    }
  });

  it.each(each)('runs in $name scripts that exist', ({ service }) => {
    const words = [...(service.entrypoint ?? []), ...(service.command ?? [])];
    const scripts = words.filter((word) => word.startsWith('dist/')).map(sourceOf);
    expect(scripts.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it.each(each)('publishes the ports of $name to this machine alone', ({ service }) => {
    expect((service.ports ?? []).filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  it.each(['api', 'worker'])('tells %s only variables that it reads', (name) => {
    const known = text('src/config/config.ts');
    const variables = Object.keys(compose.services[name]?.environment ?? {});
    expect(variables.length).toBeGreaterThan(5);
    expect(
      variables.filter((variable) => !known.includes(`'${variable}'`) && !known.includes(`'${variable.replace(/_FILE$/, '')}'`)),
    ).toEqual([]);
  });

  it('starts Valkey with the durability that Parley demands', () => {
    expect(compose.services['valkey']?.command?.join(' ')).toContain(
      '--appendonly yes --appendfsync always --maxmemory-policy noeviction',
    );
  });

  it("points the UI's codec endpoint at the API's published port, and lets the UI's origin call it", () => {
    const ui = compose.services['temporal-ui'];
    expect(ui?.environment?.['TEMPORAL_CODEC_ENDPOINT']).toBe('http://localhost:8080/codec');
    expect(compose.services['api']?.ports).toContain('127.0.0.1:8080:8080');
    expect(ui?.ports).toContain('127.0.0.1:8233:8080');
    expect(compose.services['api']?.environment?.['PARLEY_UI_ORIGIN']).toBe('http://localhost:8233');
  });

  it('registers the search attributes that the development server gets', () => {
    const registered = [...text('compose/temporal-namespace.sh').matchAll(/(Parley\w+)=(\w+)/g)].map(([, name, type]) => [
      name,
      type,
    ]);
    expect(Object.fromEntries(registered)).toEqual(searchAttributes);
  });

  it('runs the example server where the registry expects it', () => {
    const registry = text('parley.servers.yaml');
    const port = /"--port", "(\d+)"/.exec(text('Dockerfile'))?.[1];
    expect(registry).toContain(`http://127.0.0.1:${port}/mcp`);
    expect(compose.services['example']?.network_mode).toBe('service:api');
    expect(compose.services['worker']?.network_mode).toBe('service:api');
  });
});

describe('Dockerfile', () => {
  const keywords = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'CMD', 'EXPOSE'];
  const bases = instructions.filter(({ keyword }) => keyword === 'FROM').map(({ words }) => words[0]!);

  it('uses known instructions, and writes commands as lists', () => {
    expect(instructions.filter(({ keyword }) => !keywords.includes(keyword))).toEqual([]);
    for (const { line } of instructions.filter(({ keyword }) => keyword === 'CMD')) {
      expect(JSON.parse(line.slice('CMD '.length))).toEqual(expect.arrayContaining([expect.any(String)]));
    }
  });

  it('builds on a pinned glibc image, or on a stage before', () => {
    bases.forEach((base, n) => {
      expect(stages.slice(0, n).includes(base) || /^node:\d+\.\d+\.\d+-bookworm-slim$/.test(base), base).toBe(true);
    });
  });

  it.each(['parley', 'tryout'])('runs %s as a user without rights', (stage) => {
    expect(
      instructionsOf(stage)
        .filter(({ keyword }) => keyword === 'USER')
        .at(-1)?.words,
    ).toEqual(['node']);
  });

  it('ends with the image of the product', () => {
    expect(stages.at(-1)).toBe('parley');
  });

  it('copies only what exists and what .dockerignore lets in', () => {
    const ignore = text('.dockerignore').split('\n');
    const copied = instructions
      .filter(({ keyword, words }) => keyword === 'COPY' && !words[0]!.startsWith('--from='))
      .flatMap(({ words }) => words.slice(0, -1));
    expect(copied.length).toBeGreaterThan(8);
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(copied.filter((path) => !ignore.includes(`!${path}`))).toEqual([]);
  });

  it('copies from the build what the build makes', () => {
    const built = instructions
      .filter(({ words }) => words[0] === '--from=build')
      .map(({ words }) => words[1]!.replace('/app/', ''))
      .filter((path) => path !== 'dist/workflow-bundle.js');
    expect(built.filter((path) => !existsSync(join(root, sourceOf(path))))).toEqual([]);
  });

  it('starts scripts that exist', () => {
    const scripts = [...text('Dockerfile').matchAll(/dist\/[\w./-]+\.js/g)].map(([path]) => path);
    const written = scripts.filter((path) => !path.includes('workflow-bundle')).map(sourceOf);
    expect(written.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  function instructionsOf(stage: string): typeof instructions {
    const starts = instructions.flatMap(({ keyword }, n) => (keyword === 'FROM' ? [n] : []));
    const from = starts[stages.indexOf(stage)]!;
    return instructions.slice(
      from,
      starts.find((start) => start > from),
    );
  }
});
