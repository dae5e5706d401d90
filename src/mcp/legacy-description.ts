/** Begins a session of MCP 2025-11-25 (`initialize`, `notifications/initialized`, the stream for pushed messages), and asks for the tools in it. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import type { Capabilities } from '../../domain/call.js';
import { CatalogFault } from './catalog-fault.js';
import { byName, catalogDeadlineMs, faultOf, fetchNoting, maxCatalogBytes, maxPages, type HttpFacts } from './catalog-reader.js';
import { clientInfo } from './client-info.js';
import type { Offer } from './connection.js';
import { legacyRevision, type LegacyHttp } from './legacy-http.js';
import type { ServerEndpoint } from './server-endpoint.js';

/** A server pushes nothing over a stream that is not open yet; one that opens none answers 405 at once. */
const streamPatienceMs = 2_000;

export interface LegacyOpening {
  readonly agent: Dispatcher;
  readonly endpoint: ServerEndpoint;
  readonly http: LegacyHttp;
  readonly capabilities: Capabilities;
  /** Of what the server pushes over its own stream. */
  readonly maxPushedBytes: number;
  /** Told of every request and notification that the server sends of its own accord. */
  readonly onPushed: (message: unknown) => void;
}

export class LegacyDescription {
  readonly #client: Client;
  readonly #facts: HttpFacts = { bytesLeft: maxCatalogBytes };
  #isBegun = false;
  #streamOpen: Promise<unknown> = Promise.resolve();

  constructor(private readonly opening: LegacyOpening) {
    this.#client = new Client(clientInfo, {
      capabilities: opening.capabilities,
      listMaxPages: maxPages,
      supportedProtocolVersions: [legacyRevision],
    });
  }

  /** @throws {CatalogFault} */
  async get(): Promise<Offer> {
    const { endpoint } = this.opening;
    const fetchedAt = Date.now();
    const signal = AbortSignal.timeout(catalogDeadlineMs);
    const options = { timeout: catalogDeadlineMs, signal };
    delete this.#facts.networkError;
    this.#facts.bytesLeft = maxCatalogBytes;
    try {
      if (!this.#isBegun) await this.#begin(options);
      const { tools } = await this.#client.listTools(undefined, { ...options, cacheMode: 'bypass' });
      return { tools: byName(tools), fetchedAt };
    } catch (error) {
      throw error instanceof CatalogFault ? error : faultOf(endpoint, this.#facts, signal, legacyRevision);
    }
  }

  /** Whether the server has said that it does not know the session. */
  get isForgotten(): boolean {
    return this.#isBegun && this.#facts.status === 404;
  }

  async close(): Promise<void> {
    await this.#client.close().catch(() => {});
  }

  async #begin(options: { timeout: number; signal: AbortSignal }): Promise<void> {
    const { agent, http, maxPushedBytes, onPushed } = this.opening;
    const ask = fetchNoting(agent, this.#facts);
    const transport = http.transport(async (target, init) => {
      if (init?.method !== 'GET') return ask(target, init);
      const opening = http.listen(init, maxPushedBytes);
      this.#streamOpen = opening.catch(() => undefined);
      return opening;
    });
    await this.#client.connect(transport, options);
    http.begin(transport.sessionId);
    const { onmessage: toClient } = transport;
    // The client would refuse what it is asked: only its own responses are its business.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    transport.onmessage = (message) => ('method' in message ? onPushed(message) : toClient?.call(transport, message));
    this.#isBegun = true;
    await Promise.race([this.#streamOpen, sleep(streamPatienceMs, undefined, { ref: false })]);
  }
}
