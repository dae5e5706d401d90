/** What the server at the other end of a live connection says of itself: asked over that connection, and shared by its calls. */

import type { ServerDescription } from './catalog.js';
import { CatalogFault } from './catalog-fault.js';
import { catalogDeadlineMs, describeOver, maxCatalogBytes, revision } from './catalog-reader.js';
import { SharedTransport, type Wire } from './shared-transport.js';

export interface DescribedConnection extends Wire {
  readonly isOpen: boolean;
  watch(onEnd: () => void): () => void;
}

export class StdioDescription {
  #known: ServerDescription | undefined;
  #asking: Promise<ServerDescription> | undefined;

  /**
   * @param server      its id
   * @param onDescribed told each time it was asked
   */
  constructor(
    private readonly server: string,
    private readonly connection: DescribedConnection,
    private readonly onDescribed: (description: ServerDescription) => void,
  ) {}

  /** Whether it has ever said anything of itself. */
  get isKnown(): boolean {
    return this.#known !== undefined;
  }

  /**
   * @param maxAgeMs how old the tools may be; 0 asks the server. Calls at the same time share one answer
   * @throws {CatalogFault} `unreachable` or `invalid`
   */
  async get(maxAgeMs: number): Promise<ServerDescription> {
    const known = this.#known;
    if (known !== undefined && Date.now() - known.fetchedAt < maxAgeMs) return known;
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask(): Promise<ServerDescription> {
    const { server, connection } = this;
    const fetchedAt = Date.now();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), catalogDeadlineMs);
    const unwatch = connection.watch(() => deadline.abort());
    try {
      // A process does not change its revision, so it is asked for it once.
      const transport = new SharedTransport(connection, maxCatalogBytes);
      const { discover, tools } = await describeOver(transport, this.#known?.discover, deadline.signal);
      this.#known = { discover, tools, fetchedAt };
      this.onDescribed(this.#known);
      return this.#known;
    } catch (error) {
      if (!connection.isOpen) throw new CatalogFault('unreachable', `the process of server ${server} has ended`);
      if (deadline.signal.aborted) throw new CatalogFault('unreachable', `server ${server} did not answer in time`);
      throw error instanceof CatalogFault
        ? error
        : new CatalogFault('invalid', `server ${server} does not speak MCP ${revision}`);
    } finally {
      clearTimeout(timer);
      unwatch();
    }
  }
}
