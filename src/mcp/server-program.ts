/** What is started for a server that is a program. */
export interface ServerProgram {
  readonly id: string;
  /** Digest of the registration: one process is shared under it. */
  readonly key: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole of it; it may hold secrets. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The largest response that a leg may have. */
  readonly maxResultBytes: number;
}
