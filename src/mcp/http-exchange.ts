/**
 * One bounded HTTP exchange, in the shape the MCP SDK wants its `fetch` to have. It goes through `undici.request` and not through `fetch`,
 * because fetch re-sends on its own: on HTTP 421, and on redirects (promise 1). Nothing here follows, retries or decompresses.
 */

import { Agent, request, type Dispatcher } from 'undici';
import { maxValuesIn, ValueCount } from './value-count.js';

/** Why a response was given up although the request was sent. */
export class ResponseFault extends Error {
  override readonly name = 'ResponseFault';
  constructor(readonly code: 'response_too_large' | 'response_encoded' | 'response_invalid') {
    super(code);
  }
}

/**
 * Connections to MCP servers. No header or body timeout: a leg has its own deadline, and undici's default of 300 s would end a longer
 * one. Idle connections are kept for one second only: a request written to a connection that the server has just closed counts as
 * sent, and ends its call as `indeterminate`.
 */
export function mcpAgent(): Agent {
  return new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 10_000 },
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    pipelining: 1,
    allowH2: false,
  });
}

/** As {@link exchange}: a POST and nothing else, whatever the SDK may want. */
export async function post(...exchanged: Parameters<typeof exchange>): Promise<Response> {
  const [, , init] = exchanged;
  if (init.method !== 'POST') throw new TypeError('only POST is sent here');
  return exchange(...exchanged);
}

/**
 * By any method: the sessions of an earlier revision need more than POST.
 *
 * @param maxBytes   of the response body; past it, or past {@link maxValuesIn} so many bytes, the response is given up and `onFault` is told
 * @param onFault    hears of a fault that happens after this promise has resolved, while the body is read
 * @throws {ResponseFault}, or undici's own errors with a `code`
 */
export async function exchange(
  agent: Dispatcher,
  url: string | URL,
  init: RequestInit,
  maxBytes: number,
  onFault: (fault: ResponseFault) => void = () => {},
): Promise<Response> {
  const reply = await request(url, {
    dispatcher: agent,
    method: init.method as Dispatcher.HttpMethod,
    headers: Object.fromEntries(new Headers(init.headers)),
    body: (init.body as string | undefined) ?? null,
    signal: init.signal ?? null,
  });
  // Aborting destroys the body, read or not; its reader hears of it, and an unread one must not end the process.
  reply.body.on('error', () => {});
  const fault = faultOf(reply, maxBytes);
  if (fault !== undefined) {
    reply.body.destroy();
    // A status other than 200 says enough without its body; one that is none says nothing.
    if (reply.statusCode === 200 || fault.code === 'response_invalid') throw fault;
    return new Response(null, { status: reply.statusCode });
  }
  if (reply.statusCode === 204 || reply.statusCode === 304) {
    reply.body.destroy();
    return new Response(null, { status: reply.statusCode });
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(reply.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  return new Response(capped(reply.body, maxBytes, onFault), { status: reply.statusCode, headers });
}

function faultOf(reply: Dispatcher.ResponseData, maxBytes: number): ResponseFault | undefined {
  // Nothing offers an encoding, so none is expected; inflating one would sidestep the cap.
  if (![undefined, 'identity'].includes(reply.headers['content-encoding'] as string | undefined)) {
    return new ResponseFault('response_encoded');
  }
  if (Number(reply.headers['content-length'] ?? 0) > maxBytes) return new ResponseFault('response_too_large');
  // `new Response` takes no other status.
  if (reply.statusCode < 200 || reply.statusCode > 599) return new ResponseFault('response_invalid');
  return undefined;
}

function capped(body: AsyncIterable<Uint8Array>, maxBytes: number, onFault: (fault: ResponseFault) => void) {
  async function* bounded(): AsyncGenerator<Uint8Array> {
    let seen = 0;
    const values = new ValueCount();
    for await (const chunk of body) {
      seen += chunk.byteLength;
      values.add(chunk);
      if (seen > maxBytes || values.total > maxValuesIn(maxBytes)) {
        const fault = new ResponseFault('response_too_large');
        onFault(fault);
        throw fault;
      }
      yield chunk;
    }
  }
  return ReadableStream.from(bounded());
}
