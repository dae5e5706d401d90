/** Where a server is, and as whom it is spoken to. */
export interface ServerEndpoint {
  readonly id: string;
  readonly url: string;
  /** Access token, sent as it is. */
  readonly bearer?: string;
  /** Digest of the registration. It has one credential, whose secret may be another than a moment ago. */
  readonly key: string;
}
