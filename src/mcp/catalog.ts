/**
 * What a server says of itself: its answer to `server/discover` and its tools. Cached, because a leg needs both and must not cost more than
 * one POST; the binding (design §4) asks for fresh tools before every retry.
 */

import type { DiscoverResult } from '@modelcontextprotocol/client';
import { readCatalog } from './catalog-reader.js';
import { mcpAgent } from './http-exchange.js';
import type { ServerEndpoint } from './server-endpoint.js';
import type { ToolDefinition } from './tool-definition.js';

export { CatalogFault, type CatalogFaultCode } from './catalog-fault.js';
export type { ServerEndpoint } from './server-endpoint.js';
export { toolDigest, type ToolDefinition } from './tool-definition.js';

export interface ServerDescription {
  readonly discover: DiscoverResult;
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** When the tools were asked for, epoch milliseconds. */
  readonly fetchedAt: number;
}

/** Servers whose descriptions are kept; past it the one asked longest ago goes. */
const maxServers = 200;
/** A server that was upgraded in place is asked who it is after this long. */
const maxDiscoverAgeMs = 10 * 60_000;

/** What is known of one registration, for one bearer: a server may offer others something else. */
interface Known {
  readonly bearer: string | undefined;
  description?: ServerDescription;
  discovery?: { readonly discover: DiscoverResult; readonly at: number };
  asking?: Promise<ServerDescription>;
}

export class Catalog {
  readonly #agent = mcpAgent();
  /** By digest of the registration. */
  readonly #known = new Map<string, Known>();

  /**
   * @param maxAgeMs how old the tools may be; 0 asks the server. Calls at the same time share one answer
   * @throws {CatalogFault} `unreachable`, `unauthorized` or `invalid`
   */
  async describe(endpoint: ServerEndpoint, maxAgeMs: number): Promise<ServerDescription> {
    const known = this.#of(endpoint);
    const { description } = known;
    if (description !== undefined && Date.now() - description.fetchedAt < maxAgeMs) return description;
    known.asking ??= this.#ask(endpoint, known).finally(() => delete known.asking);
    return known.asking;
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  /** A renewed credential takes the place of the one before, with all that was heard under it. */
  #of({ key, bearer }: ServerEndpoint): Known {
    const known = this.#known.get(key);
    if (known !== undefined && known.bearer === bearer) return known;
    const fresh = { bearer };
    this.#keep(key, fresh);
    return fresh;
  }

  async #ask(endpoint: ServerEndpoint, known: Known): Promise<ServerDescription> {
    this.#keep(endpoint.key, known);
    const fetchedAt = Date.now();
    const { discovery } = known;
    const isCurrent = discovery !== undefined && fetchedAt - discovery.at < maxDiscoverAgeMs;
    try {
      const { discover, tools } = await readCatalog(this.#agent, endpoint, isCurrent ? discovery.discover : undefined);
      if (!isCurrent) known.discovery = { discover, at: fetchedAt };
      return (known.description = { discover, tools, fetchedAt });
    } catch (error) {
      // What is remembered may be the reason: a server that changed its revision refuses requests made for the old one.
      delete known.discovery;
      throw error;
    }
  }

  #keep(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxServers && oldest !== undefined) this.#known.delete(oldest);
  }
}
