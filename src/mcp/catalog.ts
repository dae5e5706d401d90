/**
 * What a server says of itself: its answer to `server/discover` and its tools. Cached, because a leg needs both and must not cost more than
 * one POST; the binding (design §4) asks for fresh tools before every retry.
 */

import type { DiscoverResult } from '@modelcontextprotocol/client';
import { readCatalog } from './catalog-reader.js';
import { mcpAgent } from './http-post.js';
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

/** Servers whose descriptions are kept; past it the one fetched longest ago goes. */
const maxServers = 200;
/** A server that was upgraded in place is asked who it is after this long. */
const maxDiscoverAgeMs = 10 * 60_000;

interface Discovery {
  readonly discover: DiscoverResult;
  readonly at: number;
}

export class Catalog {
  readonly #agent = mcpAgent();
  readonly #known = new Map<string, ServerDescription>();
  readonly #discoveries = new Map<string, Discovery>();
  readonly #asking = new Map<string, Promise<ServerDescription>>();

  /**
   * @param maxAgeMs how old the tools may be; 0 asks the server. Calls at the same time share one answer
   * @throws {CatalogFault} `unreachable`, `unauthorized` or `invalid`
   */
  async describe(endpoint: ServerEndpoint, maxAgeMs: number): Promise<ServerDescription> {
    const known = this.#known.get(endpoint.key);
    if (known !== undefined && Date.now() - known.fetchedAt < maxAgeMs) return known;
    const asking = this.#asking.get(endpoint.key);
    if (asking !== undefined) return asking;
    const fresh = this.#ask(endpoint).finally(() => this.#asking.delete(endpoint.key));
    this.#asking.set(endpoint.key, fresh);
    return fresh;
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  async #ask(endpoint: ServerEndpoint): Promise<ServerDescription> {
    const { key } = endpoint;
    const fetchedAt = Date.now();
    const discovery = this.#discoveries.get(key);
    const isCurrent = discovery !== undefined && fetchedAt - discovery.at < maxDiscoverAgeMs;
    try {
      const { discover, tools } = await readCatalog(this.#agent, endpoint, isCurrent ? discovery.discover : undefined);
      if (!isCurrent) keep(this.#discoveries, key, { discover, at: fetchedAt });
      const description = { discover, tools, fetchedAt };
      keep(this.#known, key, description);
      return description;
    } catch (error) {
      // What is remembered may be the reason: a server that changed its revision refuses requests made for the old one.
      this.#discoveries.delete(key);
      throw error;
    }
  }
}

function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxServers && oldest !== undefined) map.delete(oldest);
}
