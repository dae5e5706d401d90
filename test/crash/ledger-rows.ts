/** What the ledger says of the legs of a call, read as it lies in the store (src/ledger/ledger.lua.ts): asking the ledger would revoke. */

import type { Call } from './call.js';
import { tenant, type Rig } from './rig.js';
import { withRedis } from './with-redis.js';

export interface LedgerLeg {
  readonly leg: number;
  readonly state: string;
  /** How it ended; absent unless it is done. */
  readonly is?: string;
}

/** @returns in the order of `calls` */
export async function ledgersOf(rig: Rig, calls: readonly Call[]): Promise<LedgerLeg[][]> {
  return withRedis(rig.redisUrl, (redis) =>
    Promise.all(calls.map(async ({ id }) => legsIn(await redis.hGetAll(rig.keys.ledger(tenant, id))))),
  );
}

function legsIn(fields: Readonly<Record<string, string>>): LedgerLeg[] {
  return Object.entries(fields).flatMap(([name, state]) => {
    const leg = /^(\d+)\.state$/.exec(name)?.[1];
    if (leg === undefined) return [];
    const is = fields[`${leg}.is`];
    return [{ leg: Number(leg), state, ...(is !== undefined && { is }) }];
  });
}
