/** `npm start`: Parley and everything it needs, until Ctrl-C. */

import { launch, launcherUsage, readOptions, say, untilStopped, type LauncherOptions } from './launcher.js';

let options: LauncherOptions;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${(error as Error).message}\nnpm start -- [options]\n${launcherUsage}`);
  process.exit(2);
}

try {
  const stack = await launch(options);
  say(`API ${stack.apiUrl}, documentation ${stack.apiUrl}/docs`);
  if (stack.uiUrl !== undefined) say(`Temporal UI ${stack.uiUrl}`);
  say('a token: npm run -s token -- --tenant t1 --sub user-1');
  say('Ctrl-C stops everything; what is parked stays parked');
  const ended = await untilStopped(stack);
  say(ended === undefined ? 'stopping' : `${ended} ended by itself; stopping`);
  await stack.stop();
  process.exit(ended === undefined ? 0 : 1);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
