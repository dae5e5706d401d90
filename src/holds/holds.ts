/**
 * What operators hold: while a server or a tenant is held, none of its legs is sent. Calls stay as they are: a person
 * may answer, and the answer waits with the call. Read before every leg is planned, and by the ledger in the step that begins it; kept without
 * a limit, until somebody lifts it.
 */

import type { WaitReason } from '../../domain/outcome.js';
import type { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';

export interface Hold {
  /** The operator who set it. */
  readonly by: string;
  /** The operator's; absent in holds from before it was kept. */
  readonly tenant?: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What is held: a registered server, for every tenant, or one tenant. */
export type Held = { readonly server: string } | { readonly tenant: string };

export class Holds {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** The first hold stands. @returns it */
  async set(held: Held, hold: Hold): Promise<Hold> {
    await this.redis.set(this.keyOf(held), JSON.stringify(hold), { condition: 'NX' });
    return (await this.get(held)) ?? hold;
  }

  async get(held: Held): Promise<Hold | null> {
    const text = await this.redis.get(this.keyOf(held));
    return text === null ? null : (JSON.parse(text) as Hold);
  }

  /** @returns whether there was one */
  async lift(held: Held): Promise<boolean> {
    return (await this.redis.del(this.keyOf(held))) === 1;
  }

  /** Why a leg may not be sent now; undefined when it may. */
  async blocking(tenant: string, server: string): Promise<WaitReason | undefined> {
    const [ofServer, ofTenant] = await this.redis.mGet([this.keyOf({ server }), this.keyOf({ tenant })]);
    if (typeof ofServer === 'string') return 'server_held';
    return typeof ofTenant === 'string' ? 'tenant_held' : undefined;
  }

  private keyOf(held: Held): string {
    return 'server' in held ? this.keys.serverHold(held.server) : this.keys.tenantHold(held.tenant);
  }
}
