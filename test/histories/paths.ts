/**
 * Every way through the workflow, as a call that takes it: what is recorded of it must replay for as long as such a call may be open.
 * {@link ./facts.ts} says what each history shows, and `test/replay.test.ts` fails while something of the workflow has none.
 */

import { pathsOfConnections } from './paths-of-connections.js';
import { pathsOfPeople } from './paths-of-people.js';
import { pathsOfRuns } from './paths-of-runs.js';
import { pathsOfServers } from './paths-of-servers.js';
import { pathsOfWaits, slowPaths } from './paths-of-waits.js';
import type { Paths } from './place.js';

export { slowPaths };
export const paths: Paths = { ...pathsOfServers, ...pathsOfPeople, ...pathsOfWaits, ...pathsOfConnections, ...pathsOfRuns };
