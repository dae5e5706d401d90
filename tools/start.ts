/** `npm start`: Parley and everything it needs, until Ctrl-C. */

import { helpIfAsked } from './command-line.js';
import { launch, launcherUsage, readOptions, say, runUntilStopped, type LauncherOptions } from './launcher.js';

const usage = `npm start -- [options]\n${launcherUsage}`;

helpIfAsked(usage);
let options: LauncherOptions;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${(error as Error).message}\n${usage}`);
  process.exit(2);
}

try {
  process.exit(await run(options));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}

async function run(wish: LauncherOptions): Promise<number> {
  const stack = await launch(wish);
  try {
    say(`API ${stack.apiUrl}, documented at /docs; what calls and people do needs a token`);
    if (stack.uiUrl !== undefined) say(`Temporal UI ${stack.uiUrl}`);
    say('a token: npm run -s token -- --tenant t1 --sub user-1');
    say('Ctrl-C, or SIGTERM, stops everything');
    return await runUntilStopped(stack);
  } finally {
    await stack.stop();
  }
}
