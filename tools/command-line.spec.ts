import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { built } from './root.js';

const run = promisify(execFile);
const commands = {
  'tools/start.js': 'npm start',
  'tools/demo.js': 'npm run demo',
  'tools/token.js': 'npm run -s token',
  'tools/conformance/run.js': 'npm run conformance',
  'src/main.reconcile.js': 'npm run -s reconcile',
  'bench/bench.js': 'npm run bench',
  'bench/gate.js': 'npm run bench:gate',
  'bench/reconcile.js': 'npm run bench:reconcile',
  'test/crash/run.js': 'npm run test:crash',
  'test/crash/recovery.js': 'npm run test:recovery',
  'test/crash/soak.js': 'npm run test:soak',
};

describe.each(Object.entries(commands))('%s', (script, command) => {
  it('prints its usage with --help, which is no error', async () => {
    const { stdout, stderr } = await run(process.execPath, [built(script), '--help']);
    expect(stdout).toContain(command);
    expect(stderr).toBe('');
  });

  it('says what it does not know with exit code 2, and how it is used', async () => {
    const failed = await run(process.execPath, [built(script), '--no-such-option']).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 2, stdout: '' });
    const { stderr } = failed as { stderr: string };
    expect(stderr).toContain("Unknown option '--no-such-option'");
    expect(stderr).toContain(command);
    expect(stderr).not.toContain('    at ');
  });
});
