/** Shows that something is forgotten: by what is left of it after a garbage collection. */

import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * @param make does something with the n-th object, and returns it
 * @returns how many of them somebody still holds
 */
export async function keptOf(count: number, make: (index: number) => object): Promise<number> {
  const made = Array.from({ length: count }, (_, index) => new WeakRef(make(index)));
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // A WeakRef holds its object until the task that made it is over.
  await setImmediate();
  collect();
  return made.filter((each) => each.deref() !== undefined).length;
}
