/** Where the checkout is, for code that runs both from `tools/*.ts` (tests) and from `dist/tools/*.js` (commands). */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the folder that holds package.json. */
export const root: string = findRoot(dirname(fileURLToPath(import.meta.url)));

/** What the launcher keeps between two runs: data of the services, keys, ports, logs. */
export const stateDir: string = process.env['PARLEY_STATE'] ?? join(root, '.parley');

/** A file of the build, such as `built('src/main.api.js')`. Says what to do when nothing was built yet. */
export function built(path: string): string {
  const file = join(root, 'dist', path);
  if (!existsSync(file)) throw new Error(`dist/${path} is not there: run \`npm run build\` first`);
  return file;
}

function findRoot(from: string): string {
  for (let dir = from; ; dir = dirname(dir)) {
    if (existsSync(join(dir, 'package.json'))) return dir;
    if (dir === dirname(dir)) throw new Error(`no package.json above ${from}`);
  }
}
