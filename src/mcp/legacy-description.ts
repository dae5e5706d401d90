/** What a server of MCP 2025-11-25 says of itself: asked in the session that it is asked for, which is begun by the first question. */

import { Client } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import type { Capabilities } from '../../domain/call.js';
import { CatalogFault } from './catalog-fault.js';
import { byName, catalogDeadlineMs, faultOf, fetchNoting, maxCatalogBytes, maxPages, type HttpFacts } from './catalog-reader.js';
import { clientInfo } from './client-info.js';
import type { Offer } from './connection.js';
import { legacyRevision, type Beginning, type LegacyHttp } from './legacy-http.js';
import type { ServerEndpoint } from './server-endpoint.js';

export interface LegacyDescriptionOptions extends Pick<Beginning, 'maxPushedBytes' | 'onPushed'> {
  readonly agent: Dispatcher;
  readonly endpoint: ServerEndpoint;
  readonly http: LegacyHttp;
  readonly capabilities: Capabilities;
}

export class LegacyDescription {
  readonly #client: Client;
  readonly #facts: HttpFacts = { bytesLeft: maxCatalogBytes };

  constructor(private readonly options: LegacyDescriptionOptions) {
    this.#client = new Client(clientInfo, {
      capabilities: options.capabilities,
      listMaxPages: maxPages,
      supportedProtocolVersions: [legacyRevision],
    });
  }

  /** @throws {CatalogFault} */
  async get(): Promise<Offer> {
    const { agent, endpoint, http, maxPushedBytes, onPushed } = this.options;
    const fetchedAt = Date.now();
    const timeoutMs = catalogDeadlineMs;
    const signal = AbortSignal.timeout(timeoutMs);
    delete this.#facts.networkError;
    this.#facts.bytesLeft = maxCatalogBytes;
    const post = fetchNoting(agent, this.#facts);
    try {
      if (!http.isBegun) await http.begin(this.#client, { post, maxPushedBytes, onPushed, timeoutMs, signal });
      const { tools } = await this.#client.listTools(undefined, { timeout: timeoutMs, signal, cacheMode: 'bypass' });
      return { tools: byName(tools), fetchedAt };
    } catch (error) {
      throw error instanceof CatalogFault ? error : faultOf(endpoint, this.#facts, signal, legacyRevision);
    }
  }

  /** Whether the server has said that it does not know the session. */
  get isForgotten(): boolean {
    return this.options.http.isBegun && this.#facts.status === 404;
  }

  async close(): Promise<void> {
    await this.#client.close().catch(() => {});
  }
}
