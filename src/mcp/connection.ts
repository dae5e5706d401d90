/** A connection that a call lives on: what was asked over it can be answered over it alone, so it has a generation, which no other ever has. */

import type { BoundConnection } from '../../domain/call.js';
import type { ServerDescription } from './catalog.js';
import type { LegMessage } from './leg-message.js';
import type { WireOutcome } from './leg-outcome.js';

/** What the server at the other end offers. */
export type Offer = Pick<ServerDescription, 'tools' | 'fetchedAt'>;

export interface Connection {
  readonly generation: string;
  /** What a call is bound to. */
  readonly binding: BoundConnection;
  readonly isOpen: boolean;
  /** Never throws, and never sends twice. */
  send(message: LegMessage): Promise<WireOutcome>;
  /**
   * @param maxAgeMs how old the tools may be; 0 asks the server
   * @throws {CatalogFault}
   */
  describe(maxAgeMs: number): Promise<Offer>;
  /** @param onEnd told once when no leg can be sent any more @returns ends the watch */
  watch(onEnd: () => void): () => void;
}

/** Of the worker that holds connections: what all of them need. */
export interface ConnectionHolder {
  /** Its own queue: who polls it holds the connections. */
  readonly queue: string;
  /** How long a call may hear nothing of this worker before its connection counts as lost. */
  readonly leaseMs: number;
  /** Told what a server says of itself, each time it was asked; `server` is the digest of its registration. */
  readonly onDescribed: (server: string, description: Offer) => void;
  readonly log: { info(fields: object, message: string): void };
}

/** A leg that goes over a live connection and no other. */
export interface LiveLegRequest extends LegMessage {
  readonly connection: Connection;
}

/** Why a leg was not sent when its connection was gone before. */
export const connectionLost = 'connection_lost';
