import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { CredentialFault, programOf } from './credentials.js';
import { Registry, RegistryFault, type StdioServerEntry } from './registry.js';

const notes = {
  id: 'notes',
  title: 'Notes',
  transport: 'stdio',
  command: '/opt/notes/bin/server',
  args: ['--verbose', 'hunter2'],
  env: { LEVEL: 'warn', TOKEN: { env: 'NOTES_TOKEN' } },
};

function entryOf(change: object = {}): StdioServerEntry {
  const entry = Registry.parse(stringify({ servers: [{ ...notes, ...change }] }), 'file').get('notes');
  if (entry?.transport !== 'stdio') throw new Error('was not read');
  return entry;
}

function complaintsAbout(...servers: object[]): string {
  try {
    Registry.parse(stringify({ servers }), 'file');
  } catch (error) {
    if (error instanceof RegistryFault) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

afterEach(() => void delete process.env['NOTES_TOKEN']);

describe('a server of transport stdio', () => {
  it('is shown by the name of its program alone', () => {
    expect(entryOf()).toMatchObject({ origin: 'stdio:server', command: '/opt/notes/bin/server', args: notes.args });
  });

  it('is the same registration while its command line, environment and references are', () => {
    const { digest } = entryOf();
    expect(entryOf({ title: 'Other', policy: { maxRounds: 1 } }).digest).toBe(digest);
    const changes = [
      { command: '/opt/notes/bin/other' },
      { args: ['--verbose'] },
      { env: { ...notes.env, LEVEL: 'info' } },
      { env: { ...notes.env, TOKEN: { env: 'OTHER_TOKEN' } } },
      { cwd: '/opt' },
    ];
    for (const change of changes) expect(entryOf(change).digest, JSON.stringify(change)).not.toBe(digest);
  });

  it.each([
    ['args', { args: Array.from({ length: 65 }, () => 'hunter2') }, 'expected at most 64 arguments'],
    ['args[0]', { args: ['hunter2'.repeat(1_000)] }, 'expected an argument of at most 4096 characters'],
    ['args[0]', { args: ['hunter2\0'] }, 'expected an argument of at most 4096 characters'],
    ['command', { command: '' }, 'expected a program of at most 4096 characters'],
    ['cwd', { cwd: 'hunter2' }, 'expected an absolute path'],
    ['env.TOKEN', { env: { TOKEN: 5 } }, 'expected a text, {env: NAME} or {file: path}'],
    ['env.hunter 2', { env: { 'hunter 2': 'x' } }, 'expected a map of names'],
    [
      'env',
      { env: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`V${n}`, 'hunter2'])) },
      'expected at most 64 variables',
    ],
    ['url', { url: 'https://hunter2' }, 'is not known here'],
    ['credential', { credential: { env: 'hunter2' } }, 'is not known here'],
  ])('is refused for its %s (%o)', (path, change, message) => {
    expect(complaintsAbout({ ...notes, args: [], ...change })).toMatch(`servers[0].${path}: ${message}`);
  });

  it('is one of few', () => {
    const servers = Array.from({ length: 17 }, (_, n) => ({ ...notes, id: `notes-${n}` }));
    expect(complaintsAbout(...servers)).toContain('expected at most 16 servers of transport stdio');
  });

  it('gets its secrets, and of this environment what programs need', async () => {
    process.env['NOTES_TOKEN'] = 'hunter2';
    const { env } = await programOf(entryOf());
    expect(env).toMatchObject({ LEVEL: 'warn', TOKEN: 'hunter2', PATH: process.env['PATH'] });
    expect(Object.keys(env)).not.toContain('NOTES_TOKEN');
  });

  it('is not started without its secrets', async () => {
    await expect(programOf(entryOf())).rejects.toThrow(CredentialFault);
  });
});
