/**
 * Before a leg is begun: is everything it is bound to still the same (design §4), and what exactly is to be sent? Reads only, so that
 * a leg found unfit has touched nothing.
 */

import { checkAnswer, inputResponsesOf, type KeyedResponse } from '../domain/answers.js';
import { bindingOf, lostPart } from '../domain/binding.js';
import type { BoundCall, FailureDetail, LegOutcome } from '../domain/call.js';
import type { ConsentView } from '../domain/consent.js';
import { digestOf } from '../domain/digest.js';
import { wireId } from '../domain/ids.js';
import { maxToolCacheMaxAgeMs } from '../domain/policy.js';
import type { Receipts } from '../src/crypto/receipts.js';
import type { Sealer } from '../src/crypto/sealer.js';
import type { Holds } from '../src/holds/holds.js';
import { Catalog, CatalogFault, toolDigest, type ToolDefinition } from '../src/mcp/catalog.js';
import type { LegRequest } from '../src/mcp/leg-sender.js';
import type { Connection, LiveLegRequest, Offer } from '../src/mcp/connection.js';
import type { LegConnections } from '../src/mcp/leg-connections.js';
import { CredentialFault, endpointOf, programOf } from '../src/servers/credentials.js';
import {
  livesOnWorker,
  type LegacyServerEntry,
  type Registry,
  type ServerEntry,
  type StdioServerEntry,
} from '../src/servers/registry.js';
import type { LegInput } from './contract.js';

export interface PlannedLeg {
  readonly is: 'sendable';
  readonly request: LegRequest | LiveLegRequest;
  readonly server: ServerEntry;
  readonly tool?: ToolDefinition;
  readonly toolDigest?: string;
  readonly receiptId?: string;
  readonly params: Record<string, unknown>;
}

export type Plan = PlannedLeg | { readonly is: 'not_sendable'; readonly outcome: LegOutcome };

/** How the server is reached, and what it offers. */
interface Way {
  readonly to: Pick<LegRequest, 'url' | 'bearer' | 'discover'> | Pick<LiveLegRequest, 'connection'>;
  readonly tools: Offer['tools'];
}

export class LegPlanner {
  constructor(
    private readonly registry: Registry,
    private readonly catalog: Catalog,
    private readonly sealer: Sealer,
    private readonly receipts: Receipts,
    private readonly holds: Holds,
  ) {}

  /** @param connections of this attempt alone, which ends them */
  async plan(input: LegInput, connections: LegConnections): Promise<Plan> {
    try {
      return await this.sendable(input, connections);
    } catch (error) {
      if (error instanceof NotSendable) return { is: 'not_sendable', outcome: error.outcome };
      if (error instanceof CatalogFault || error instanceof CredentialFault) {
        return { is: 'not_sendable', outcome: this.faulty(input.call, error) };
      }
      throw error;
    }
  }

  private async sendable(input: LegInput, connections: LegConnections): Promise<PlannedLeg> {
    const { call, leg, round } = input;
    // The ledger looks once more, and that decides. But a held server is not asked for its tools either, and while it is held because it is
    // down, no call may spend its attempts on it.
    const by = await this.holds.blocking(call.tenant, call.server);
    if (by !== undefined) throw new NotSendable({ is: 'blocked', by });
    const server = this.registry.get(call.server) ?? lost('server_changed');
    const part = lostPart(bindingOf(call), server);
    if (part !== undefined) lost(part);
    const params = this.sealer.unseal<Record<string, unknown>>(call.params, scope(call, 'params'));
    if (digestOf(params) !== call.paramsDigest) lost('params_changed');

    const { responses, receiptId } = await this.answered(input);
    const inputResponses = [...responses, ...this.rootsOf(input)];
    const { to, tools } = await this.wayTo(server, input, connections);
    const tool = this.toolOf(input, tools);
    const digest = tool && toolDigest(tool);
    if (input.toolDigest !== undefined && digest !== input.toolDigest) lost('tool_definition_changed');

    return {
      is: 'sendable',
      server,
      params,
      ...(tool !== undefined && { tool }),
      ...(digest !== undefined && { toolDigest: digest }),
      ...(receiptId !== undefined && { receiptId }),
      request: {
        ...to,
        wireId: wireId(call.invocation, leg),
        method: call.method,
        // The original params, and what this round adds: never anything from an earlier round (MCP, MRTR).
        params: {
          ...params,
          ...(inputResponses.length > 0 && { inputResponses: inputResponsesOf(inputResponses) }),
          ...(round?.state !== undefined && {
            requestState: this.sealer.unseal<string>(round.state, scope(call, `state.${round.number}`)),
          }),
        },
        ...(tool !== undefined && { tool }),
        capabilities: call.capabilities,
        deadlineMs: call.policy.legDeadlineMs,
        maxBytes: call.policy.maxResultBytes,
      },
    };
  }

  /** The answer is checked once more against what was shown and what was signed: nobody between the person and the wire may alter it. */
  private async answered(input: LegInput): Promise<{ responses: readonly KeyedResponse[]; receiptId?: string }> {
    const { call, round, answer } = input;
    if (answer === undefined || round?.view === undefined) return { responses: [] };
    const view = this.sealer.unseal<ConsentView>(round.view, scope(call, `view.${round.number}`));
    const given = this.sealer.unseal<{ key: string; response: unknown }[]>(
      answer.responses,
      scope(call, `answer.${answer.consent}`),
    );
    const fits = checkAnswer(
      view.inputs,
      Object.fromEntries(given.map(({ key, response }) => [key, response])),
      call.policy.maxAnswerBytes,
    );
    const receipt = await this.receipts.verify(answer.receipt).catch(() => undefined);
    const signed =
      receipt !== undefined &&
      receipt.tenant === call.tenant &&
      receipt.invocation === call.invocation &&
      receipt.consent === answer.consent &&
      receipt.round === round.number &&
      receipt.subject === answer.actor &&
      receipt.paramsDigest === call.paramsDigest &&
      receipt.viewDigest === round.viewDigest &&
      receipt.responsesDigest === answer.responsesDigest;
    const shown = answer.actor === call.subject && digestOf(view) === round.viewDigest;
    const untouched = this.sealer.sameFingerprint(JSON.stringify(given), answer.responsesDigest);
    if (!signed || !shown || !untouched || fits.is !== 'valid') return lost('answer_altered');
    return { responses: fits.responses, receiptId: receipt.id };
  }

  /** The policy's own list, which the call was started with: no person is asked for it. */
  private rootsOf({ call, round }: LegInput): KeyedResponse[] {
    if (round?.roots === undefined) return [];
    const keys = this.sealer.unseal<string[]>(round.roots, scope(call, `roots.${round.number}`));
    return keys.map((key) => ({ key, response: { roots: call.policy.roots } }));
  }

  private async wayTo(server: ServerEntry, input: LegInput, connections: LegConnections): Promise<Way> {
    const maxAgeMs = toolsMaxAgeMs(input);
    if (livesOnWorker(server)) {
      const connection = await connectionTo(server, input, connections);
      const { tools } = await offerOver(connection, input, maxAgeMs);
      return { to: { connection }, tools };
    }
    const endpoint = await endpointOf(server);
    const { url, bearer } = endpoint;
    const { discover, tools } = await this.catalog.describe(endpoint, maxAgeMs);
    return { to: { url, ...(bearer !== undefined && { bearer }), discover }, tools };
  }

  private toolOf({ call, leg }: LegInput, tools: Offer['tools']): ToolDefinition | undefined {
    if (call.method !== 'tools/call') return undefined;
    return tools.get(call.name) ?? (leg > 1 ? lost('tool_definition_changed') : refuse('tool_unknown'));
  }

  private faulty(call: BoundCall, fault: CatalogFault | CredentialFault): LegOutcome {
    if (fault.code === 'unreachable') return { is: 'never_sent', proof: 'catalog_unreachable' };
    if (fault.code !== 'invalid') return { is: 'blocked', by: 'reauthorization_required' };
    const detail: FailureDetail = { message: fault.message };
    return { is: 'failed', reason: 'server_error', detail: this.sealer.seal(detail, scope(call, 'problem')) };
  }
}

/** Leg 1 may trust a list of some age; every retry asks again, for a person has thought meanwhile (design §4). */
function toolsMaxAgeMs({ call, leg }: LegInput): number {
  // Prompts and resources are not described by the list of tools: what is cached will do.
  if (call.method !== 'tools/call') return maxToolCacheMaxAgeMs;
  return leg > 1 ? 0 : (call.policy.toolCacheMaxAgeMs ?? maxToolCacheMaxAgeMs);
}

/** A call that was not asked yet may open a connection; one that was goes to the connection that asked, or nowhere (design §4). */
async function connectionTo(
  server: LegacyServerEntry | StdioServerEntry,
  { call, connection: bound }: LegInput,
  connections: LegConnections,
): Promise<Connection> {
  if (server.transport === 'stdio') {
    if (bound === undefined) return connections.open(await programOf(server));
    return connections.find(server.digest, bound.generation) ?? lost('connection_lost');
  }
  const endpoint = await endpointOf(server);
  if (bound === undefined) {
    const { capabilities, policy } = call;
    const wish = { server: server.digest, capabilities, maxResultBytes: policy.maxResultBytes };
    return connections.openSession(endpoint, wish);
  }
  return connections.findSession(endpoint, bound.generation) ?? lost('connection_lost');
}

/** A connection that ends while the server is asked cannot be asked again, unless nothing binds the call to it yet. */
async function offerOver(connection: Connection, { connection: bound }: LegInput, maxAgeMs: number): Promise<Offer> {
  try {
    return await connection.describe(maxAgeMs);
  } catch (error) {
    if (bound !== undefined && !connection.isOpen) return lost('connection_lost');
    throw error;
  }
}

/** What a sealed field is bound to; the same call elsewhere, or another field of it, cannot open it. */
export function scope(call: Pick<BoundCall, 'tenant' | 'invocation'>, field: string) {
  return { tenant: call.tenant, invocation: call.invocation, field };
}

class NotSendable extends Error {
  constructor(readonly outcome: LegOutcome) {
    super(outcome.is);
  }
}

function lost(part: Extract<LegOutcome, { is: 'binding_lost' }>['part']): never {
  throw new NotSendable({ is: 'binding_lost', part });
}

function refuse(reason: Extract<LegOutcome, { is: 'refused' }>['reason']): never {
  throw new NotSendable({ is: 'refused', reason });
}
