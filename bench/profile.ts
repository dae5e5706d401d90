/**
 * Loaded by `--import` into a process that is to be profiled: V8's CPU profile of each of its threads, from their start to their end, for
 * Chrome's DevTools or VS Code. The folder comes by BENCH_PROFILE_DIR.
 */

import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { basename, join } from 'node:path';
import { threadId } from 'node:worker_threads';

const dir = process.env['BENCH_PROFILE_DIR'];
if (dir !== undefined) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.start');
  process.on('exit', () => {
    // Within one thread the inspector answers before `post` returns.
    session.post('Profiler.stop', (_, { profile }) => {
      const name = `${basename(process.argv[1] ?? 'node', '.js')}-${process.pid}-${threadId}.cpuprofile`;
      writeFileSync(join(dir, name), JSON.stringify(profile));
    });
  });
}
