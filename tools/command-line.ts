/** How the project's commands read their options: `--help` prints the usage and is no error; what it does not know is one. */

import { parseArgs, type ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

/** Ends the process with the usage and exit code 0 when `--help` or `-h` is among the arguments. */
export function helpIfAsked(usage: string): void {
  if (!process.argv.slice(2).some((each) => each === '--help' || each === '-h')) return;
  console.log(usage);
  process.exit(0);
}

/** The options of this process's command line; ends the process with 2 and the usage when they are none. */
export function readArgs<const T extends Options>(usage: string, options: T): Values<T> {
  helpIfAsked(usage);
  try {
    return parseArgs<{ options: T }>({ options }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(2);
  }
}
