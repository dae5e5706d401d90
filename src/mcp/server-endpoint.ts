/** Where a server is, and as whom it is spoken to. */
export interface ServerEndpoint {
  readonly id: string;
  readonly url: string;
  /** Access token, sent as it is. */
  readonly bearer?: string;
  /** Digest of server and credential reference: descriptions are shared under it. */
  readonly key: string;
}
