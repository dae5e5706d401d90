/**
 * The live connections that this worker holds: processes of stdio servers, and sessions of servers of an earlier revision. Another worker holds
 * others: a call goes on where it was asked.
 */

import type { Connection, ConnectionHolder } from './connection.js';
import { LegConnections } from './leg-connections.js';
import { LegacySessions } from './legacy-sessions.js';
import { type CallId, Places } from './places.js';
import type { ServerEndpoint } from './server-endpoint.js';
import type { ServerProgram } from './server-program.js';
import { StdioConnections, unreachable } from './stdio-connections.js';

export interface LiveConnectionsOptions extends ConnectionHolder {
  /** Calls that are parked or may yet be, at once: each takes a slot of the own queue. */
  readonly maxParked: number;
}

export class LiveConnections {
  readonly #stdio: StdioConnections;
  readonly #sessions: LegacySessions;
  readonly #places: Places;
  /** Of every parked call: what ends the wait for its connection. */
  readonly #parked = new Set<() => void>();
  #isStopping = false;
  #closing: Promise<void> | undefined;

  constructor(private readonly options: LiveConnectionsOptions) {
    const { maxParked: max, leaseMs: keepMs } = options;
    this.#stdio = new StdioConnections(options);
    this.#sessions = new LegacySessions(options);
    const onFree = ({ invocation }: CallId) => this.#sessions.leave(invocation);
    this.#places = new Places({ max, maxPerTenant: Math.ceil(max / 2), keepMs, onFree });
  }

  get queue(): string {
    return this.options.queue;
  }

  /** For one attempt at a leg, which has to say when it ends. */
  forLeg({ tenant, invocation }: CallId): LegConnections {
    const admit = (server: { readonly id: string }, call: CallId) => {
      this.#refuseIfStopping(server);
      if (!this.#places.hasRoomFor(call)) throw unreachable(server, 'too many calls live on this worker');
    };
    return new LegConnections(
      { tenant, invocation },
      { places: this.#places, stdio: this.#stdio, sessions: this.#sessions, admit },
    );
  }

  /** Asks a stdio server for its tools. @throws {CatalogFault} */
  async introduceProgram(program: ServerProgram): Promise<void> {
    this.#refuseIfStopping(program);
    await this.#stdio.open(program).describe(0);
  }

  /** Asks a server of an earlier revision for its tools, in a session of its own. @throws {CatalogFault} */
  async introduceEndpoint(endpoint: ServerEndpoint, server: string): Promise<void> {
    this.#refuseIfStopping(endpoint);
    const session = this.#sessions.begin(endpoint, { server, capabilities: {}, maxResultBytes: 0 });
    await session.describe().finally(() => session.stop());
  }

  /**
   * Resolves when the connection is lost, or this worker stops, or `signal` is aborted.
   *
   * @param call absent when a workflow of an earlier build asks
   */
  async whileOpen(generation: string, signal: AbortSignal, call?: CallId): Promise<void> {
    const all: Connection[] = [...this.#stdio.all(), ...this.#sessions.all()];
    const connection = all.find((each) => each.generation === generation);
    if (connection === undefined || !connection.isOpen || signal.aborted || this.#isStopping) return;
    const leave = call && this.#places.watch(call);
    await new Promise<void>((resolve) => {
      const end = (): void => {
        unwatch();
        leave?.();
        this.#parked.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const unwatch = connection.watch(end);
      this.#parked.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  /** No call is parked here any more and none begins; legs under way may still end. */
  release(): void {
    this.#isStopping = true;
    for (const end of this.#parked) end();
  }

  /** Ends every process and session, and waits for that. Idempotent. */
  async close(): Promise<void> {
    this.#closing ??= this.#end();
    await this.#closing;
  }

  async #end(): Promise<void> {
    this.release();
    await Promise.all([this.#stdio.close(), this.#sessions.close()]);
  }

  #refuseIfStopping(server: { readonly id: string }): void {
    if (this.#isStopping) throw unreachable(server, 'the worker is stopping');
  }
}
