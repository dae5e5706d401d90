/**
 * The live connections that this worker holds: one process per registered stdio server, started when a call needs it and kept for as long as
 * the worker lives; and one session per call of a server of an earlier revision. Another worker holds others: a call goes on where it was
 * asked.
 */

import { CatalogFault } from './catalog-fault.js';
import type { Connection, Offer } from './connection.js';
import { mcpAgent } from './http-post.js';
import { LegacySession, type LegacySessionOptions } from './legacy-session.js';
import { LiveConnection } from './live-connection.js';
import { type CallId, Places } from './places.js';
import type { ServerEndpoint } from './server-endpoint.js';
import { WireProof } from './wire-proof.js';
import type { ServerProgram } from './server-program.js';

/** A program that ends at once must not be started as fast as calls come in. */
const restartPauseMs = 1_000;
/** Processes at once; the registry allows fewer servers, the rest is for those on their way out. */
const maxProcesses = 32;

export interface LiveConnectionsOptions {
  /** This worker's own queue: who polls it holds the connections. */
  readonly queue: string;
  /** How long a call may hear nothing of this worker before its connection counts as lost. */
  readonly leaseMs: number;
  /** Calls that are parked or may yet be, at once: each takes a slot of the own queue. */
  readonly maxParked: number;
  /** Told what a server says of itself, each time it was asked. */
  readonly onDescribed: (key: string, description: Offer) => void;
  readonly log: { info(fields: object, message: string): void };
}

/** What a new session is told, and bounded by; `server` is the digest of the registration. */
export type SessionWish = Pick<LegacySessionOptions, 'capabilities' | 'maxResultBytes'> & { readonly server: string };

export class LiveConnections {
  readonly #agent = mcpAgent();
  readonly #proof = new WireProof();
  /** By invocation; of those who only ask what a server offers, by generation. */
  readonly #sessions = new Map<string, LegacySession>();
  readonly #options: LiveConnectionsOptions;
  readonly #current = new Map<string, LiveConnection>();
  readonly #processes = new Set<LiveConnection>();
  readonly #startedAt = new Map<string, number>();
  readonly #places: Places;
  /** Of every parked call: what ends the wait for its connection. */
  readonly #parked = new Set<() => void>();
  #isStopping = false;
  #closing: Promise<void> | undefined;

  constructor(options: LiveConnectionsOptions) {
    this.#options = options;
    const { maxParked: max, leaseMs: keepMs } = options;
    const onFree = ({ invocation }: CallId) => this.#sessions.get(invocation)?.stop();
    this.#places = new Places({ max, maxPerTenant: Math.ceil(max / 2), keepMs, onFree });
  }

  get queue(): string {
    return this.#options.queue;
  }

  /**
   * The connection that a new call uses; starts the program if need be.
   *
   * @param call gets a place, until {@link endLeg} says that it needs none; absent when the server is only asked what it offers
   * @throws {CatalogFault} `unreachable` when this worker can have none now
   */
  open(program: ServerProgram, call?: CallId): LiveConnection {
    this.#admit(program, call);
    const current = this.#current.get(program.key);
    if (current?.isOpen === true) return current;
    const startedAt = this.#startedAt.get(program.key) ?? -Infinity;
    if (performance.now() - startedAt < restartPauseMs)
      throw unreachable(program, 'the process has ended and is not started again yet');
    if (this.#processes.size >= maxProcesses) throw unreachable(program, 'too many processes');
    return this.#start(program);
  }

  /** The connection of a call under way, or undefined when it is gone, whatever took its place. */
  find(key: string, generation: string, call: CallId): LiveConnection | undefined {
    const current = this.#current.get(key);
    if (current?.generation !== generation || !current.isOpen) return undefined;
    this.#places.beginLeg(call);
    return current;
  }

  /**
   * The session that a call uses which was not asked yet, and no other call ever does.
   *
   * @throws {CatalogFault} as {@link open}
   */
  openSession(endpoint: ServerEndpoint, wish: SessionWish, call: CallId): LegacySession {
    this.#admit(endpoint, call);
    const known = this.#sessions.get(call.invocation);
    // A call that was reset comes to its first leg again. The ledger knows that leg, and what is asked in the session stays with it.
    if (known?.isOpen === true && known.hasCall) return known;
    // One whose call never got through to the server.
    known?.stop();
    return this.#begin(endpoint, wish, call.invocation);
  }

  /** The session of a call under way, or undefined when it is gone. From now on with the credential of `endpoint`. */
  findSession(endpoint: ServerEndpoint, generation: string, call: CallId): LegacySession | undefined {
    const session = this.#sessions.get(call.invocation);
    if (session?.generation !== generation || !session.isOpen) return undefined;
    this.#places.beginLeg(call);
    session.use(endpoint);
    return session;
  }

  /** Asks a server of an earlier revision for its tools, in a session of its own. */
  async introduce(endpoint: ServerEndpoint, server: string): Promise<void> {
    this.#admit(endpoint);
    const session = this.#begin(endpoint, { server, capabilities: {}, maxResultBytes: 0 });
    await session.describe().finally(() => session.stop());
  }

  /** Has to be told of every leg, also of one that never got as far as a connection. @see Places.endLeg */
  endLeg(call: CallId, goesOn: boolean): void {
    this.#places.endLeg(call, goesOn);
  }

  /**
   * Resolves when the connection is lost, or this worker stops, or `signal` is aborted.
   *
   * @param call absent when a workflow of an earlier build asks
   */
  async whileOpen(generation: string, signal: AbortSignal, call?: CallId): Promise<void> {
    const all: Connection[] = [...this.#current.values(), ...this.#sessions.values()];
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
    const all = [...this.#processes, ...this.#sessions.values()];
    for (const connection of all) connection.stop();
    await Promise.all(all.map(({ gone }) => gone));
    this.#proof.close();
    await this.#agent.destroy();
  }

  #admit(server: { readonly id: string }, call?: CallId): void {
    if (this.#isStopping) throw unreachable(server, 'the worker is stopping');
    if (call === undefined) return;
    if (!this.#places.hasRoomFor(call)) throw unreachable(server, 'too many calls live on this worker');
    this.#places.beginLeg(call);
  }

  #begin(endpoint: ServerEndpoint, wish: SessionWish, invocation?: string): LegacySession {
    const { queue, leaseMs, log } = this.#options;
    const onDescribed: LegacySessionOptions['onDescribed'] = (description) => this.#options.onDescribed(wish.server, description);
    const binding = { queue, leaseMs };
    const session = new LegacySession({ ...wish, endpoint, binding, onDescribed, agent: this.#agent, proof: this.#proof });
    const { generation } = session;
    const key = invocation ?? generation;
    const about = { server: endpoint.id, generation };
    this.#sessions.set(key, session);
    log.info({ event: 'session_opened', ...about }, 'session opened');
    void Promise.all([session.ended, session.gone]).then(([why]) => {
      if (this.#sessions.get(key) === session) this.#sessions.delete(key);
      log.info({ event: 'session_closed', ...about, why }, 'session closed');
    });
    return session;
  }

  #start(program: ServerProgram): LiveConnection {
    const { queue, leaseMs, log } = this.#options;
    const onDescribed = (description: Offer) => this.#options.onDescribed(program.key, description);
    const connection = new LiveConnection(program, { queue, leaseMs }, onDescribed);
    const { generation, pid } = connection;
    const about = { server: program.id, generation, pid };
    this.#current.set(program.key, connection);
    this.#processes.add(connection);
    this.#startedAt.set(program.key, performance.now());
    log.info({ event: 'connection_opened', ...about }, 'server process started');
    void Promise.all([connection.ended, connection.gone]).then(([why, exit]) => {
      this.#processes.delete(connection);
      log.info({ event: 'connection_lost', ...about, why, ...exit }, 'server process ended');
    });
    return connection;
  }
}

function unreachable({ id }: { readonly id: string }, why: string): CatalogFault {
  return new CatalogFault('unreachable', `server ${id}: ${why}`);
}
