/**
 * The Temporal workers of a worker process: one for workflows and the small steps around a leg, one for legs alone, so that slow MCP servers
 * never hold up anybody's closing; and one for the legs that only this process can send, over the live connections that it holds.
 */

import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { resolve } from 'node:path';
import type { CallActivities, ConnectionActivities, LegActivities } from '../../activities/contract.js';
import type { Config } from '../config/config.js';
import type { KeyRingCodec } from '../crypto/codec.js';
import { dataConverterFor } from '../crypto/data-converter.js';
import { connectionOptions } from '../temporal/connection-options.js';

const beatThrottleMs = 300;
/** Legs over live connections, and the calls parked on them (`maxParked`), at once. */
const maxOwn = 1_000;
/** A parked call needs no memory: about 1 MB each, and waking one replays some twenty events. */
const maxCachedWorkflows = 300;
/** A leg on the wire at shutdown is waited for: cutting it off would make its outcome unknown. */
const drainMs = 15 * 60_000;
/**
 * How long a workflow task waits for the worker that has the workflow cached before any worker may take it: that one may be dead. Shorter
 * than a busy worker may need, and every task is replayed from the start, which makes it busier.
 */
const stickyMs = 5_000;

const workflowBundle = { codePath: resolve(import.meta.dirname, '../../workflow-bundle.js') };

/** What this process alone does, on a queue of its own. */
export interface OwnQueue {
  readonly name: string;
  readonly activities: ConnectionActivities;
}

export class TemporalWorkers {
  private constructor(
    private readonly connection: NativeConnection,
    private readonly workers: readonly Worker[],
  ) {}

  /** @param own absent where no connection is ever held */
  static async create(
    config: Config,
    codec: KeyRingCodec,
    calls: CallActivities,
    legs: LegActivities,
    own?: OwnQueue,
  ): Promise<TemporalWorkers> {
    const { namespace, callsQueue, legsQueue } = config.temporal;
    const connection = await NativeConnection.connect(connectionOptions(config.temporal));
    const common: Partial<WorkerOptions> = {
      connection,
      namespace,
      dataConverter: dataConverterFor(codec),
      shutdownGraceTime: drainMs,
      shutdownForceTime: drainMs + 30_000,
    };
    try {
      const workers = await Promise.all([
        Worker.create({
          ...common,
          taskQueue: callsQueue,
          workflowBundle,
          activities: methodsOf(calls),
          maxCachedWorkflows,
          stickyQueueScheduleToStartTimeout: stickyMs,
        }),
        Worker.create({
          ...common,
          taskQueue: legsQueue,
          activities: methodsOf(legs),
          maxConcurrentActivityTaskExecutions: config.maxLegs,
          // That a leg is begun must be known soon: by default a beat is held back for most of the heartbeat timeout.
          maxHeartbeatThrottleInterval: beatThrottleMs,
        }),
        ...(own === undefined
          ? []
          : [
              Worker.create({
                ...common,
                taskQueue: own.name,
                activities: { ...methodsOf(legs), ...methodsOf(own.activities) },
                maxConcurrentActivityTaskExecutions: maxOwn,
                maxHeartbeatThrottleInterval: beatThrottleMs,
              }),
            ]),
      ]);
      return new TemporalWorkers(connection, workers);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Runs until {@link shutdown} has drained all of them, then closes the connection. Rejects if a worker dies. */
  async run(): Promise<void> {
    try {
      await Promise.all(
        this.workers.map((worker) =>
          worker.run().catch((error: unknown) => {
            this.shutdown();
            throw error;
          }),
        ),
      );
    } finally {
      await this.connection.close();
    }
  }

  /** Idempotent: a worker that is not running any more refuses to be shut down. */
  shutdown(): void {
    for (const worker of this.workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}

/** Temporal wants plain functions; a class has methods that need their `this`. */
function methodsOf<T extends object>(target: T): Record<string, (...args: never[]) => unknown> {
  const methods: Record<string, (...args: never[]) => unknown> = {};
  const names = new Set([...Object.keys(target), ...Object.getOwnPropertyNames(Object.getPrototypeOf(target))]);
  for (const name of names) {
    const member = target[name as keyof T];
    if (name !== 'constructor' && typeof member === 'function') methods[name] = member.bind(target);
  }
  return methods;
}
