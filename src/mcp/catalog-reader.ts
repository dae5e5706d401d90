/** Asks a server for its description: `server/discover` if need be, then every page of `tools/list`, within bounds of time and size. */

import {
  Client,
  StreamableHTTPClientTransport,
  type DiscoverResult,
  type FetchLike,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import { CatalogFault } from './catalog-fault.js';
import { clientInfo } from './client-info.js';
import { post } from './http-exchange.js';
import type { ServerEndpoint } from './server-endpoint.js';
import { toolDigest } from './tool-definition.js';

export const maxPages = 50;
/** Of all responses together: a list of tools is words and schemas, and is held in memory. */
export const maxCatalogBytes = 8 * 1024 * 1024;
/** For all requests together; it delays a leg and is not counted in the leg's own deadline. */
export const catalogDeadlineMs = 15_000;
export const revision = '2026-07-28';

/** What happened on HTTP's level; the SDK's errors do not tell it reliably. */
export interface HttpFacts {
  status?: number;
  networkError?: Error;
  bytesLeft: number;
}

/**
 * @param known an earlier answer to `server/discover`, which saves a request
 * @throws {CatalogFault}
 */
export async function readCatalog(
  agent: Dispatcher,
  endpoint: ServerEndpoint,
  known: DiscoverResult | undefined,
): Promise<{ discover: DiscoverResult; tools: Map<string, Tool> }> {
  const facts: HttpFacts = { bytesLeft: maxCatalogBytes };
  const deadline = AbortSignal.timeout(catalogDeadlineMs);
  try {
    return await describeOver(transportTo(agent, endpoint, facts), known, deadline);
  } catch (error) {
    throw error instanceof CatalogFault ? error : faultOf(endpoint, facts, deadline);
  }
}

/**
 * @param transport closed when this is over
 * @throws {CatalogFault} when the server contradicts itself; what the SDK throws when it gives no usable answer
 */
export async function describeOver(
  transport: Transport,
  known: DiscoverResult | undefined,
  deadline: AbortSignal,
): Promise<{ discover: DiscoverResult; tools: Map<string, Tool> }> {
  const client = new Client(clientInfo, {
    // Nothing that is asked here may ask back; the SDK would try again with the server's state.
    inputRequired: { autoFulfill: false },
    listMaxPages: maxPages,
    versionNegotiation: { mode: { pin: revision } },
  });
  const options = { timeout: catalogDeadlineMs, signal: deadline };
  try {
    await client.connect(transport, {
      ...options,
      ...(known !== undefined && { prior: { kind: 'modern', discover: known } as const }),
    });
    const discover = client.getDiscoverResult();
    if (discover === undefined) throw new Error('not discovered');
    const { tools } = await client.listTools(undefined, { ...options, cacheMode: 'bypass' });
    return { discover, tools: byName(tools) };
  } finally {
    await client.close().catch(() => {});
  }
}

function transportTo(agent: Dispatcher, { url, bearer }: ServerEndpoint, facts: HttpFacts) {
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: {
      redirect: 'manual',
      ...(bearer !== undefined && { headers: { authorization: `Bearer ${bearer}` } }),
    },
    fetch: fetchNoting(agent, facts),
  });
}

/** Bounded POSTs, and a note of what became of them. */
export function fetchNoting(agent: Dispatcher, facts: HttpFacts): FetchLike {
  return async (target, init) => {
    try {
      const response = await post(agent, target, init ?? {}, facts.bytesLeft);
      facts.status = response.status;
      return counted(response, facts);
    } catch (error) {
      facts.networkError = error as Error;
      throw error;
    }
  };
}

/** Lets every response draw on one budget, so that many pages cannot do what one large page may not. */
function counted(response: Response, facts: HttpFacts): Response {
  const body = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        facts.bytesLeft -= chunk.byteLength;
        controller.enqueue(chunk);
      },
    }),
  );
  return new Response(body ?? null, { status: response.status, headers: response.headers });
}

/** A tool without a canonical form cannot be bound to a call (lone surrogates), so it is not offered. */
export function byName(tools: readonly Tool[]): Map<string, Tool> {
  const named = new Map<string, Tool>();
  for (const tool of tools) {
    if (named.has(tool.name)) throw new CatalogFault('invalid', 'the server lists two tools under one name');
    if (hasDigest(tool)) named.set(tool.name, tool);
  }
  return named;
}

function hasDigest(tool: Tool): boolean {
  try {
    toolDigest(tool);
    return true;
  } catch {
    return false;
  }
}

/** By these a server of an earlier revision says that it expects a session first, or other headers. */
const mayBeOfOtherRevision: ReadonlySet<number> = new Set([400, 404, 406]);

export function faultOf(
  endpoint: ServerEndpoint,
  facts: HttpFacts,
  deadline: AbortSignal,
  spoken: string = revision,
): CatalogFault {
  const { status, networkError } = facts;
  if (deadline.aborted) return new CatalogFault('unreachable', `server ${endpoint.id} did not answer in time`);
  if (networkError !== undefined) {
    const { code } = networkError as { code?: unknown };
    // Ours, not the network's: it answered, with too much.
    if (networkError.name === 'ResponseFault') return new CatalogFault('invalid', `server ${endpoint.id}: ${code}`);
    return new CatalogFault('unreachable', `server ${endpoint.id} cannot be reached: ${code ?? 'network error'}`);
  }
  // No request was made: a token that no header can hold, say.
  if (status === undefined) return new CatalogFault('invalid', `server ${endpoint.id} could not be asked`);
  const said = `server ${endpoint.id} answered HTTP ${status}`;
  if (status === 401 || status === 403) return new CatalogFault('unauthorized', said);
  if (status === 408 || status === 429 || status >= 500) return new CatalogFault('unreachable', said);
  if (status >= 300 && !mayBeOfOtherRevision.has(status)) return new CatalogFault('invalid', said);
  const speaksNot = `server ${endpoint.id} does not speak MCP ${spoken} (HTTP ${status})`;
  const hint = spoken === revision ? `; if it speaks 2025-11-25, its registration must say protocol: '2025-11-25'` : '';
  return new CatalogFault('invalid', speaksNot + hint);
}
