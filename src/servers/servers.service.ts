/** Which servers can be called, and what each of them says that it offers. */

import { Injectable } from '@nestjs/common';
import type { Actor } from '../auth/actor.js';
import { Catalog, CatalogFault, toolDigest } from '../mcp/catalog.js';
import type { Offer } from '../mcp/connection.js';
import { Problem } from '../problems/problem.js';
import { CredentialFault, endpointOf } from './credentials.js';
import { ToolLists } from './published-tools.js';
import { type HttpServerEntry, livesOnWorker, Registry, type ServerEntry } from './registry.js';
import type { ServerPage, ToolPage } from './servers.contract.js';

/** Somebody who looks at a list of tools can live with one this old; a leg looks for itself. */
const catalogAgeMs = 60_000;
const retryAfterSeconds = 10;

@Injectable()
export class Servers {
  constructor(
    private readonly registry: Registry,
    private readonly catalog: Catalog,
    private readonly toolLists: ToolLists,
  ) {}

  list({ tenant }: Actor): ServerPage {
    const entries = this.registry.allFor(tenant);
    return { items: entries.map(({ id, title, transport, origin }) => ({ id, title, transport, origin })) };
  }

  /** @throws {Problem} `server_absent`, `server_unavailable`, `reauthorization_required` */
  async tools({ tenant }: Actor, id: string): Promise<ToolPage> {
    const entry = this.registry.getFor(tenant, id);
    if (entry === undefined) throw new Problem('server_absent');
    const { tools, fetchedAt } = await (livesOnWorker(entry) ? this.published(entry) : this.describe(entry));
    const items = [...tools.values()].map((tool) => ({ ...tool, digest: toolDigest(tool) }));
    return { server: id, fetchedAt: new Date(fetchedAt).toISOString(), items };
  }

  /** Only workers speak to it: until one has, there is nothing to show. */
  private async published(entry: ServerEntry): Promise<Offer> {
    const published = await this.toolLists.find(entry.digest);
    if (published === undefined) throw new Problem('server_unavailable', { detail: 'not_asked_yet', retryAfterSeconds });
    return published;
  }

  private async describe(entry: HttpServerEntry) {
    try {
      return await this.catalog.describe(await endpointOf(entry), catalogAgeMs);
    } catch (error) {
      if (!(error instanceof CatalogFault || error instanceof CredentialFault)) throw error;
      const { code: detail } = error;
      if (detail === 'unauthorized' || detail === 'credential_missing') throw new Problem('reauthorization_required', { detail });
      throw new Problem('server_unavailable', { detail, retryAfterSeconds });
    }
  }
}
