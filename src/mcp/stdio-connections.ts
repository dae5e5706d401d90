/** The processes of stdio servers that this worker holds: one per registration, started when a call needs it, kept for as long as the worker lives. */

import { CatalogFault } from './catalog-fault.js';
import type { ConnectionHolder, Offer } from './connection.js';
import { StdioConnection } from './stdio-connection.js';
import type { ServerProgram } from './server-program.js';

/** A program that ends at once must not be started as fast as calls come in. */
const restartPauseMs = 1_000;
/** Processes at once; the registry allows fewer servers, the rest is for those on their way out. */
const maxProcesses = 32;

export class StdioConnections {
  readonly #current = new Map<string, StdioConnection>();
  readonly #processes = new Set<StdioConnection>();
  readonly #startedAt = new Map<string, number>();

  constructor(private readonly holder: ConnectionHolder) {}

  /**
   * Starts the program if need be.
   *
   * @throws {CatalogFault} `unreachable` when there can be none now
   */
  open(program: ServerProgram): StdioConnection {
    const current = this.#current.get(program.key);
    if (current?.isOpen === true) return current;
    const startedAt = this.#startedAt.get(program.key) ?? -Infinity;
    if (performance.now() - startedAt < restartPauseMs)
      throw unreachable(program, 'the process has ended and is not started again yet');
    if (this.#processes.size >= maxProcesses) throw unreachable(program, 'too many processes');
    return this.#start(program);
  }

  /** The connection of a call under way, or undefined when it is gone, whatever took its place. @param key of its program */
  find(key: string, generation: string): StdioConnection | undefined {
    const current = this.#current.get(key);
    return current?.generation === generation && current.isOpen ? current : undefined;
  }

  all(): StdioConnection[] {
    return [...this.#current.values()];
  }

  /** Ends every process, and waits for that. */
  async close(): Promise<void> {
    const all = [...this.#processes];
    for (const each of all) each.stop();
    await Promise.all(all.map(({ gone }) => gone));
  }

  #start(program: ServerProgram): StdioConnection {
    const { queue, leaseMs, log } = this.holder;
    const onDescribed = (description: Offer) => this.holder.onDescribed(program.key, description);
    const connection = new StdioConnection(program, { queue, leaseMs }, onDescribed);
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

export function unreachable({ id }: { readonly id: string }, why: string): CatalogFault {
  return new CatalogFault('unreachable', `server ${id}: ${why}`);
}
