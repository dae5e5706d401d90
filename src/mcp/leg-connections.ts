/**
 * The connections of this worker, as one attempt at a leg may use them. What it opens is its own until the leg is begun, and then the call's:
 * another attempt at the same leg, which a history that was reset dispatches, must neither get it nor end it.
 */

import type { LegacySession } from './legacy-session.js';
import type { LegacySessions, SessionWish } from './legacy-sessions.js';
import type { StdioConnection } from './stdio-connection.js';
import type { CallId, LegPlace, Places } from './places.js';
import type { ServerEndpoint } from './server-endpoint.js';
import type { ServerProgram } from './server-program.js';
import type { StdioConnections } from './stdio-connections.js';

export interface WorkerConnections {
  readonly places: Places;
  readonly stdio: StdioConnections;
  readonly sessions: LegacySessions;
  /** @throws {CatalogFault} `unreachable` when this worker can let no new call in */
  admit(server: { readonly id: string }, call: CallId): void;
}

export class LegConnections {
  #place: LegPlace | undefined;
  /** Nobody else's yet. */
  #opened: LegacySession | undefined;

  constructor(
    private readonly call: CallId,
    private readonly worker: WorkerConnections,
  ) {}

  /**
   * The connection that a new call uses, which others use as well.
   *
   * @throws {CatalogFault} `unreachable` when this worker can have none now
   */
  open(program: ServerProgram): StdioConnection {
    this.#admit(program);
    return this.worker.stdio.open(program);
  }

  /** The connection of a call under way, or undefined when it is gone. */
  find(key: string, generation: string): StdioConnection | undefined {
    const connection = this.worker.stdio.find(key, generation);
    if (connection !== undefined) this.#goOn();
    return connection;
  }

  /**
   * The session that a new call uses, which no other call ever does.
   *
   * @throws {CatalogFault} as {@link open}
   */
  openSession(endpoint: ServerEndpoint, wish: SessionWish): LegacySession {
    this.#admit(endpoint);
    return (this.#opened = this.worker.sessions.begin(endpoint, wish));
  }

  /** The session of a call under way, or undefined when it is gone. From now on with the credential of `endpoint`. */
  findSession(endpoint: ServerEndpoint, generation: string): LegacySession | undefined {
    const session = this.worker.sessions.find(this.call.invocation, generation);
    if (session === undefined) return undefined;
    this.#goOn();
    session.use(endpoint);
    return session;
  }

  /** The ledger lets this attempt send the leg: what it has opened is the call's. */
  begin(): void {
    this.#place?.begin();
    if (this.#opened !== undefined) this.worker.sessions.give(this.#opened, this.call.invocation);
    this.#opened = undefined;
  }

  /** Has to be called once. @param isOver whether no other leg of the call will come */
  end(isOver: boolean): void {
    this.#opened?.stop();
    this.#place?.leave(isOver);
  }

  #admit(server: { readonly id: string }): void {
    this.worker.admit(server, this.call);
    this.#place = this.worker.places.enter(this.call);
  }

  /** An earlier leg was begun. */
  #goOn(): void {
    this.#place = this.worker.places.enter(this.call);
    this.#place.begin();
  }
}
