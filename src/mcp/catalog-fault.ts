/** Why a server's description could not be had. */

export type CatalogFaultCode =
  /** No answer now: refused connection, timeout, HTTP 408, 429 or 5xx. Asking again may help. */
  | 'unreachable'
  /** HTTP 401 or 403. */
  | 'unauthorized'
  /** An answer that is no answer: no MCP 2026-07-28 server, a redirect, too much, or contradicting itself. */
  | 'invalid';

/** The message holds no content of the server's beyond an HTTP status or an error's code. */
export class CatalogFault extends Error {
  override readonly name = 'CatalogFault';
  constructor(
    readonly code: CatalogFaultCode,
    message: string,
  ) {
    super(message);
  }
}
