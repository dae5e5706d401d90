/**
 * Every way through the workflow, as a call that takes it: what is recorded of it must replay for as long as such a call may be open.
 * {@link ./facts.ts} says what each history shows, and `test/replay.test.ts` fails while something of the workflow has none.
 */

import { pathsOfBindings, slowPathsOfBindings } from './paths-of-bindings.js';
import { pathsOfConnections } from './paths-of-connections.js';
import { pathsOfPeople } from './paths-of-people.js';
import { pathsOfResets } from './paths-of-resets.js';
import { pathsOfRuns, slowPathsOfRuns } from './paths-of-runs.js';
import { pathsOfServers } from './paths-of-servers.js';
import { pathsOfWaits, slowPathsOfWaits } from './paths-of-waits.js';
import type { Paths } from './place.js';

export const paths: Paths = {
  ...pathsOfServers,
  ...pathsOfPeople,
  ...pathsOfWaits,
  ...pathsOfConnections,
  ...pathsOfBindings,
  ...pathsOfResets,
  ...pathsOfRuns,
};

/** They take longer than anybody waits for a test: taken to be recorded, and replayed ever after. */
export const slowPaths: Paths = { ...slowPathsOfWaits, ...slowPathsOfBindings, ...slowPathsOfRuns };
