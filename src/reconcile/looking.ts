/** Reads what the store holds of calls that are open, in bounded batches: the closed ones, however many, are not touched. */

import { Inject, Injectable } from '@nestjs/common';
import { type ConsentId, type InvocationId, isConsentId } from '../../domain/ids.js';
import { openName, partsOf } from '../records/open-names.js';
import type { InvocationRecord } from '../records/record.js';
import { Records } from '../records/records.js';
import { pruneScript } from '../records/records.lua.js';
import { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import { REDIS } from '../store/redis.token.js';
import type { SeenConsent, SeenLeg } from './seen.js';

const batchSize = 200;

/** What the store holds of one call. */
export interface StoredCall {
  readonly record: InvocationRecord | null;
  readonly consents: readonly SeenConsent[];
  readonly leg: SeenLeg | null;
}

@Injectable()
export class Looking {
  constructor(
    @Inject(REDIS) private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly records: Records,
  ) {}

  /** Names of the invocations whose records are open. */
  openRecords(): AsyncIterable<readonly string[]> {
    return this.batchesOf(this.keys.openRecords());
  }

  /** Every open consent by the name of its invocation. Names that stand for nothing open are dropped on the way. */
  async openConsents(): Promise<Map<string, SeenConsent[]>> {
    const found = new Map<string, SeenConsent[]>();
    for await (const names of this.batchesOf(this.keys.openConsents())) {
      const seen = await Promise.all(names.map((name) => this.consent(name)));
      for (const [n, consent] of seen.entries()) {
        const name = names[n] ?? '';
        if (consent === null || consent.status !== 'open') await this.pruneConsent(name);
        else append(found, openName(partsOf(name).tenant, consent.invocation), consent);
      }
    }
    return found;
  }

  /** @param open the consents of the call that are open */
  async call(tenant: string, invocation: InvocationId, open: readonly SeenConsent[]): Promise<StoredCall> {
    const record = await this.records.get(tenant, invocation);
    if (record === null) return { record, consents: open, leg: null };
    const { consent } = record;
    const own = consent === null || open.some(({ id }) => id === consent) ? null : await this.consent(openName(tenant, consent));
    const leg = record.status === 'sending' ? await this.leg(record) : null;
    return { record, leg, consents: own === null ? open : [...open, own] };
  }

  /** As they are now. */
  async stillOpen(tenant: string, consents: readonly SeenConsent[]): Promise<readonly SeenConsent[]> {
    const seen = await Promise.all(consents.map(({ id }) => this.consent(openName(tenant, id))));
    return seen.filter((consent) => consent !== null).filter(({ status }) => status === 'open');
  }

  async pruneRecord(name: string): Promise<void> {
    const { tenant, id } = partsOf(name);
    await pruneScript.run(this.redis, [this.keys.record(tenant, id), this.keys.openRecords()], [name]);
  }

  private async pruneConsent(name: string): Promise<void> {
    const { tenant, id } = partsOf(name);
    await pruneScript.run(this.redis, [this.keys.consent(tenant, id), this.keys.openConsents()], [name]);
  }

  /** Without what was shown, which may be large. */
  private async consent(name: string): Promise<SeenConsent | null> {
    const { tenant, id } = partsOf(name);
    const fields = ['status', 'invocation', 'round', 'openedAt', 'answeredAt'];
    const texts = await this.redis.hmGet(this.keys.consent(tenant, id), fields);
    const [status, invocation, round, openedAt, answeredAt] = texts.map((text) => text && (JSON.parse(text) as unknown));
    if (!isConsentId(id) || typeof status !== 'string') return null;
    return {
      id: id satisfies ConsentId,
      invocation: invocation as InvocationId,
      status,
      round: Number(round),
      openedAt: Number(openedAt),
      ...(typeof answeredAt === 'number' && { answeredAt }),
    };
  }

  private async leg({ tenant, id, leg }: InvocationRecord): Promise<SeenLeg | null> {
    const [state, begunAt] = await this.redis.hmGet(this.keys.ledger(tenant, id), [`${leg}.state`, `${leg}.begunAt`]);
    return typeof state === 'string' ? { state, begunAt: Number(begunAt) } : null;
  }

  private async *batchesOf(index: string): AsyncGenerator<readonly string[]> {
    // A set that grows while it is read may show an entry twice, and a small one comes whole.
    for await (const entries of this.redis.zScanIterator(index, { COUNT: batchSize })) yield entries.map(({ value }) => value);
  }
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
