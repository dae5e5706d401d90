/**
 * The SDK's Streamable HTTP transport, narrowed to one leg: one POST under our own JSON-RPC id, whose raw response ends the leg. The SDK
 * builds the request (envelope, headers, `Mcp-Param-*`) and reads the event stream; its ids, its decoding, its redirects, its
 * re-sends and its reconnects are not used: it numbers every client's requests from 0, waits for ever for a stream that has ended, and
 * drops what is malformed before the gate could refuse it.
 */

import { isJSONRPCRequest, StreamableHTTPClientTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import { isObject, jsonOf } from '../../domain/server-json.js';
import { post } from './http-exchange.js';
import { errorOf, type Leg, type LegEnding } from './leg.js';

export interface LegTransportOptions {
  readonly agent: Dispatcher;
  readonly headers: Record<string, string>;
  readonly maxBytes: number;
}

export class LegTransport extends StreamableHTTPClientTransport {
  readonly #leg: Leg;
  #isStream = false;

  constructor(url: URL, leg: Leg, options: LegTransportOptions) {
    super(url, {
      fetch: async (target, init) => {
        const response = await postOnce(leg, target, init, options);
        this.#isStream = isEventStream(response);
        return response;
      },
      requestInit: { headers: options.headers, redirect: 'manual' },
      reconnectionOptions: noReconnection,
    });
    this.#leg = leg;
  }

  override async send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options?: Parameters<StreamableHTTPClientTransport['send']>[1],
  ): Promise<void> {
    // Cancellation is closing the stream; a server's own requests have no place in this revision and get no reply.
    if (Array.isArray(message) || !isJSONRPCRequest(message)) return;
    const leg = this.#leg;
    // The transport is no EventTarget; this takes the place of the SDK's own listener.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    this.onmessage = (incoming) => leg.receive(incoming);
    await super.send(
      { ...message, id: leg.wireId },
      { ...options, onRequestStreamEnd: () => leg.end({ is: 'broken', reason: 'stream_ended' }) },
    );
    // A whole body was read: if it held no response, none will come.
    if (!this.#isStream) leg.end({ is: 'broken', reason: 'response_invalid' });
  }
}

/** Else an event with an id would be followed by a GET; resumable streams are no part of MCP 2026-07-28. */
export const noReconnection = {
  maxRetries: 0,
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
};

/** Lets only a 200 with a body through to the SDK; everything else ends the leg here, with its status. */
export async function postOnce(
  leg: Leg,
  url: string | URL,
  init: RequestInit | undefined,
  { agent, maxBytes }: Pick<LegTransportOptions, 'agent' | 'maxBytes'>,
): Promise<Response> {
  leg.takePost();
  let status = 200;
  const response = await post(agent, url, init ?? {}, maxBytes, (fault) => {
    // Any other status speaks for itself, whatever its body comes to.
    if (status === 200) leg.end({ is: 'broken', reason: fault.code });
  });
  ({ status } = response);
  if (status === 200) return response;
  leg.end(await refusalOf(response, leg.wireId));
  throw new Error(`HTTP ${status}`);
}

export function isEventStream(response: Response): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(response.headers.get('content-type') ?? '');
}

/** A JSON-RPC error under our id is the server's own word, whatever the status; without one the status speaks. */
export async function refusalOf(response: Response, wireId: string): Promise<LegEnding> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  const body = jsonOf(text);
  if (!isObject(body)) return { is: 'http', status, message: text };
  const error = errorOf(body['error']);
  if (error !== undefined && body['id'] === wireId) return { ...error, httpStatus: status };
  return { is: 'http', status, message: error?.message ?? text };
}
