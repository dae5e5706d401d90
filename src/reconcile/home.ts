/**
 * Whether Temporal is the one that holds the workflows of this store's calls: in another, every call would look as if it were gone. The
 * store remembers the id of the namespace; and when it first learns it, its records are looked through once for those that are open.
 */

import { Inject, Injectable } from '@nestjs/common';
import { openName } from '../records/open-names.js';
import { Keys, patternOf } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import { REDIS } from '../store/redis.token.js';
import { Workflows } from './workflows.js';

const batchSize = 500;

@Injectable()
export class Home {
  constructor(
    @Inject(REDIS) private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly workflows: Workflows,
  ) {}

  async isHere(): Promise<boolean> {
    const id = await this.workflows.namespaceId();
    const known = await this.redis.get(this.keys.temporalNamespace());
    if (known !== null) return known === id;
    await this.index(this.keys.record('', ''), this.keys.openRecords(), 'startedAt', (status) => status !== 'closed');
    await this.index(this.keys.consent('', ''), this.keys.openConsents(), 'openedAt', (status) => status === 'open');
    await this.redis.set(this.keys.temporalNamespace(), id, { condition: 'NX' });
    return (await this.redis.get(this.keys.temporalNamespace())) === id;
  }

  /** Calls from before there was an index of open ones, and those of an index that was lost with its store. */
  private async index(like: string, index: string, since: string, isOpen: (status: string) => boolean): Promise<void> {
    for await (const names of this.redis.scanIterator({ MATCH: patternOf(like), COUNT: batchSize, TYPE: 'hash' })) {
      const found = await Promise.all(names.map((name) => this.redis.hmGet(name, ['status', 'tenant', 'id', since])));
      const open = found.flatMap((texts) => {
        const [status, tenant, id, at] = texts.map((text) => text && (JSON.parse(text) as unknown));
        const isUsable = typeof status === 'string' && typeof tenant === 'string' && typeof id === 'string';
        return isUsable && isOpen(status) ? [{ value: openName(tenant, id), score: Number(at) }] : [];
      });
      if (open.length > 0) await this.redis.zAdd(index, open);
    }
  }
}
