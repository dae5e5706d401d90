/**
 * The sessions of MCP 2025-11-25 that this worker holds. One that was begun is whoever's who began it, until it is given to a call; a call has
 * one at most, and no other call ever has the same.
 */

import type { ConnectionHolder } from './connection.js';
import { mcpAgent } from './http-exchange.js';
import { LegacySession, type LegacySessionOptions } from './legacy-session.js';
import type { ServerEndpoint } from './server-endpoint.js';
import { WireProof } from './wire-proof.js';

/** What a new session is told, and bounded by; `server` is the digest of the registration. */
export type SessionWish = Pick<LegacySessionOptions, 'capabilities' | 'maxResultBytes'> & { readonly server: string };

export class LegacySessions {
  readonly #agent = mcpAgent();
  readonly #proof = new WireProof();
  readonly #all = new Set<LegacySession>();
  /** By invocation. */
  readonly #ofCalls = new Map<string, LegacySession>();

  constructor(private readonly holder: ConnectionHolder) {}

  /** Has to be stopped by whoever begins it, unless it is given to a call. */
  begin(endpoint: ServerEndpoint, { server, ...wish }: SessionWish): LegacySession {
    const { queue, leaseMs, log } = this.holder;
    const onDescribed: LegacySessionOptions['onDescribed'] = (description) => this.holder.onDescribed(server, description);
    const binding = { queue, leaseMs };
    const session = new LegacySession({ ...wish, endpoint, binding, onDescribed, agent: this.#agent, proof: this.#proof });
    const { generation } = session;
    const about = { server: endpoint.id, generation };
    this.#all.add(session);
    log.info({ event: 'session_opened', ...about }, 'session opened');
    void Promise.all([session.ended, session.gone]).then(([why]) => {
      this.#all.delete(session);
      log.info({ event: 'session_closed', ...about, why }, 'session closed');
    });
    return session;
  }

  /** It is the call's from now on. One that the call had before is left: the leg that was begun in it never got through to the server. */
  give(session: LegacySession, invocation: string): void {
    this.leave(invocation);
    this.#ofCalls.set(invocation, session);
    void session.ended.then(() => {
      if (this.#ofCalls.get(invocation) === session) this.#ofCalls.delete(invocation);
    });
  }

  /** The session of a call under way, or undefined when it is gone. */
  find(invocation: string, generation: string): LegacySession | undefined {
    const session = this.#ofCalls.get(invocation);
    return session?.generation === generation && session.isOpen ? session : undefined;
  }

  all(): LegacySession[] {
    return [...this.#all];
  }

  /** The call needs its session no more. */
  leave(invocation: string): void {
    this.#ofCalls.get(invocation)?.stop();
  }

  /** Ends every session, and waits for that. */
  async close(): Promise<void> {
    const all = this.all();
    for (const each of all) each.stop();
    await Promise.all(all.map(({ gone }) => gone));
    this.#proof.close();
    await this.#agent.destroy();
  }
}
