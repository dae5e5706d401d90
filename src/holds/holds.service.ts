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

  async list({ tenant }: Actor): Promise<HoldsBody> {
    const ids = this.registry.all().map(({ id }) => id);
    const [ofTenant, ...ofServers] = await Promise.all([
      this.holds.get({ tenant }),
      ...ids.map((server) => this.holds.get({ server })),
    ]);
    const servers = ids.flatMap((server, index) => {
      const hold = ofServers[index];
      return hold ? [{ server, ...bodyOf(hold) }] : [];
    });
    return { tenant: ofTenant && bodyOf(ofTenant), servers };
  }

  /** From here on none of its legs begins; one on the wire is left to finish. @throws {Problem} `server_absent` */
  async set(actor: Actor, held: Held): Promise<HoldBody> {
    this.requireKnown(held);
    await this.record(actor, held, 'held');
    return bodyOf(await this.holds.set(held, { by: actor.subject, at: Date.now() }));
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

function bodyOf({ by, at }: Hold): HoldBody {
  return { heldBy: by, heldAt: new Date(at).toISOString() };
}
