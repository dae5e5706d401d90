/**
 * Sends one leg: one JSON-RPC request with its response, by one POST (promise 1). Knows nothing of the ledger, the gate or the call; whoever
 * calls it has made sure that the leg may be sent, and may call it once.
 */

import { Client, CLIENT_CAPABILITIES_META_KEY, type CallToolRequest, type DiscoverResult } from '@modelcontextprotocol/client';
import type { Capabilities } from '../../domain/call.js';
import { clientInfo } from './client-info.js';
import { mcpAgent, ResponseFault } from './http-exchange.js';
import { Leg, maxTimerMs } from './leg.js';
import type { LegMessage } from './leg-message.js';
import { outcomeOf, type WireOutcome } from './leg-outcome.js';
import { LegTransport } from './leg-transport.js';
import type { ToolDefinition } from './tool-definition.js';
import { WireProof } from './wire-proof.js';

export type { WireOutcome } from './leg-outcome.js';

export interface LegRequest extends LegMessage {
  readonly url: string;
  /** Access token, sent as it is. */
  readonly bearer?: string;
  /** Of a `tools/call`: says which arguments are mirrored in headers. */
  readonly tool?: ToolDefinition;
  /** The server's answer to `server/discover`, so that no leg has to ask. */
  readonly discover: DiscoverResult;
}

export class LegSender {
  readonly #agent = mcpAgent();
  readonly #proof = new WireProof();

  /** Never throws, and never sends twice. */
  async send(request: LegRequest): Promise<WireOutcome> {
    const leg = new Leg(request.wireId);
    const watch = this.#proof.watch();
    const client = new Client(clientInfo, { inputRequired: { autoFulfill: false } });
    const deadline = setTimeout(() => leg.end({ is: 'broken', reason: 'deadline' }), Math.min(request.deadlineMs, maxTimerMs));
    this.#post(client, leg, watch.traceparent, request).catch((error: unknown) =>
      leg.end({ is: 'broken', reason: codeOf(error) ?? (leg.wasPosted ? 'response_invalid' : 'request_unfit') }),
    );
    const ending = await leg.ended;
    clearTimeout(deadline);
    // Closing aborts what is still under way; only then is it certain that nothing more gets written.
    await client.close().catch(() => {});
    watch.stop();
    return outcomeOf(ending, watch.sends);
  }

  async close(): Promise<void> {
    this.#proof.close();
    await this.#agent.close();
  }

  async #post(client: Client, leg: Leg, traceparent: string, request: LegRequest): Promise<void> {
    const { url, bearer, method, tool, discover, capabilities, deadlineMs, maxBytes } = request;
    const headers = { traceparent, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) };
    const transport = new LegTransport(new URL(url), leg, { agent: this.#agent, headers, maxBytes });
    await client.connect(transport, { prior: { kind: 'modern', discover } });
    const params = { ...request.params, _meta: metaOf(request.params, capabilities) };
    // The SDK's own timeout is a net below ours.
    const options = { allowInputRequired: true, timeout: Math.min(deadlineMs + 5_000, maxTimerMs) };
    if (method === 'tools/call' && tool !== undefined) {
      // With an output schema the SDK would throw away an input_required result; and a given definition stops its own re-send.
      const { outputSchema: _, ...toolDefinition } = tool;
      await client.callTool(params as CallToolRequest['params'], { ...options, toolDefinition });
    } else {
      await client.request({ method, params }, options);
    }
  }
}

function metaOf(params: Record<string, unknown>, capabilities: Capabilities): Record<string, unknown> {
  return { ...(params['_meta'] as object | undefined), [CLIENT_CAPABILITIES_META_KEY]: capabilities };
}

/** The code of a network error, Node's or undici's, or of our own fault; other errors tell too much, or too little. */
export function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof ResponseFault) return at.code;
    const { code } = at as { code?: unknown };
    if (typeof code === 'string' && /^(E[A-Z]{2,}|ERR_\w+|UND_ERR_\w+|CERT_\w+)$/.test(code)) return code;
  }
  return undefined;
}
