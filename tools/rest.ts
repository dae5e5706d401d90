/** A caller of Parley's REST API, as small as `curl`: for the demonstration and the tests. */

export interface RestRequest {
  /** Default: GET, or POST when there is a body. */
  readonly method?: string;
  readonly body?: unknown;
  /** Sent as it is, for bodies that are no JSON. */
  readonly text?: string;
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RestReply {
  readonly status: number;
  readonly headers: Headers;
  // What comes back is looked at by people and tests; its shape is the API's contract, checked there.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly text: string;
}

/** @param token absent: no Authorization header */
export async function rest(url: string, token: string | undefined, path: string, request: RestRequest = {}): Promise<RestReply> {
  const sent = request.text ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
  const response = await fetch(new URL(path, url), {
    method: request.method ?? (sent === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...(request.idempotencyKey === undefined ? {} : { 'idempotency-key': request.idempotencyKey }),
      ...request.headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parsed(text), text };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
