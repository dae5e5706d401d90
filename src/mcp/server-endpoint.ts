/** Where a server is, and as whom it is spoken to. */
export interface ServerEndpoint {
  readonly id: string;
  readonly url: string;
  /** Access token, sent as it is. */
  readonly bearer?: string;
  /** Digest of the registration and of the credential itself: descriptions are shared under it, and by nobody who is somebody else to the server. */
  readonly key: string;
}
