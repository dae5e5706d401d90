/** Setting and lifting holds. Each is on the audit record of the operator's tenant. */

import { Injectable } from '@nestjs/common';
import { type AuditType, Audit } from '../audit/audit.js';
import type { Actor } from '../auth/actor.js';
import { Problem } from '../problems/problem.js';
import { Registry } from '../servers/registry.js';
import { HeldCalls } from './held-calls.js';
import type { HoldBody, HoldsBody } from './holds.contract.js';
import { type Held, type Hold, Holds } from './holds.js';

@Injectable()
export class HoldsService {
  constructor(
    private readonly holds: Holds,
    private readonly registry: Registry,
    private readonly audit: Audit,
    private readonly calls: HeldCalls,
  ) {}

  async list(actor: Actor): Promise<HoldsBody> {
    const { tenant } = actor;
    // Who operates servers does so for every tenant; to anybody else those that their tenant may not use do not exist.
    const known = actor.scopes.has('servers:operate') ? this.registry.all() : this.registry.allFor(tenant);
    const ids = known.map(({ id }) => id);
    const [ofTenant, ...ofServers] = await Promise.all([
      this.holds.get({ tenant }),
      ...ids.map((server) => this.holds.get({ server })),
    ]);
    const servers = ids.flatMap((server, index) => {
      const hold = ofServers[index];
      return hold ? [{ server, ...bodyOf(hold, actor) }] : [];
    });
    return { tenant: ofTenant && bodyOf({ tenant, ...ofTenant }, actor), servers };
  }

  /** From here on none of its legs begins; one on the wire is left to finish. @throws {Problem} `server_absent` */
  async set(actor: Actor, held: Held): Promise<HoldBody> {
    this.requireKnown(held);
    await this.record(actor, held, 'held');
    const { subject: by, tenant } = actor;
    const hold = await this.holds.set(held, { by, tenant, at: Date.now() });
    return bodyOf('tenant' in held ? { ...held, ...hold } : hold, actor);
  }

  /** Calls that wait for it go on; those that cannot be told now look again by themselves. @throws {Problem} `server_absent` */
  async lift(actor: Actor, held: Held): Promise<void> {
    this.requireKnown(held);
    await this.record(actor, held, 'released');
    if (await this.holds.lift(held)) this.calls.resume(held);
  }

  private requireKnown(held: Held): void {
    if ('server' in held && this.registry.get(held.server) === undefined) throw new Problem('server_absent');
  }

  private async record(actor: Actor, held: Held, what: 'held' | 'released'): Promise<void> {
    const type: AuditType = 'server' in held ? `server_${what}` : `tenant_${what}`;
    const about = 'server' in held ? { server: held.server } : {};
    await this.audit.append(actor.tenant, { type, actor: actor.subject, ...about });
  }
}

/** A server is held for every tenant; who did it is told to their own alone. */
function bodyOf({ by, tenant, at }: Hold, actor: Actor): HoldBody {
  return { heldBy: tenant === actor.tenant ? by : null, heldAt: new Date(at).toISOString() };
}
