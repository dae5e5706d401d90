/**
 * The tools of servers that only a worker can ask, as one of them last heard them: the API shows this list, and starts no program. It decides
 * nothing, for a leg asks its server itself.
 */

import type { ToolDefinition } from '../mcp/catalog.js';
import type { Offer } from '../mcp/connection.js';
import type { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';

/** A list that is larger is not shown. */
const maxBytes = 1024 * 1024;
/** Written again at most this often: every retry of a call asks for the tools. */
const pauseMs = 10_000;
/** Of a server that nobody calls any more. */
const ttlMs = 90 * 24 * 60 * 60_000;

interface Stored {
  readonly fetchedAt: number;
  readonly tools: readonly ToolDefinition[];
}

export class ToolLists {
  readonly #writtenAt = new Map<string, number>();

  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** @param server digest of the registration */
  async publish(server: string, { tools, fetchedAt }: Offer): Promise<void> {
    if (fetchedAt - (this.#writtenAt.get(server) ?? 0) < pauseMs) return;
    const stored: Stored = { fetchedAt, tools: [...tools.values()] };
    const text = JSON.stringify(stored);
    if (Buffer.byteLength(text) > maxBytes) return;
    this.#writtenAt.set(server, fetchedAt);
    await this.redis.set(this.keys.tools(server), text, { expiration: { type: 'PX', value: ttlMs } });
  }

  async find(server: string): Promise<Offer | undefined> {
    const text = await this.redis.get(this.keys.tools(server));
    if (text === null) return undefined;
    const { tools, fetchedAt } = JSON.parse(text) as Stored;
    return { fetchedAt, tools: new Map(tools.map((tool) => [tool.name, tool])) };
  }
}
