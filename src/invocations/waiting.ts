/** Waiting for a call to need somebody (`Prefer: wait`): until it has an outcome or asks a person, or the time is up. */

import { Injectable } from '@nestjs/common';
import type { InvocationId } from '../../domain/ids.js';
import { Readiness } from '../health/readiness.js';
import { Changes, type Following } from '../records/changes.js';
import { type InvocationRecord, Records } from '../records/records.js';

@Injectable()
export class Waiting {
  constructor(
    private readonly changes: Changes,
    private readonly records: Records,
    private readonly readiness: Readiness,
  ) {}

  /** From here on no change of the invocation is missed; close it in every case. */
  watch(tenant: string, invocation: InvocationId): Watch {
    return new Watch(tenant, invocation, this.changes.follow(tenant, invocation), this.records, this.readiness.stopping);
  }
}

export class Watch {
  constructor(
    private readonly tenant: string,
    private readonly invocation: InvocationId,
    private readonly following: Promise<Following>,
    private readonly records: Records,
    /** Aborted when the process is told to stop: every waiting request then answers with what is known. */
    private readonly stopping: AbortSignal,
  ) {
    // Whoever needs it awaits `ready`; a failure that nobody waits for is no reason to end the process.
    following.catch(() => undefined);
  }

  /** Resolves when the subscription stands. */
  async ready(): Promise<void> {
    await this.following;
  }

  /** @returns the record as it is at the end of the wait */
  async untilSettled(waitMs: number): Promise<InvocationRecord | null> {
    const following = await this.following;
    const endAt = performance.now() + waitMs;
    const stop = () => void following.close();
    this.stopping.addEventListener('abort', stop);
    try {
      return await this.follow(following, endAt);
    } finally {
      this.stopping.removeEventListener('abort', stop);
    }
  }

  private async follow(following: Following, endAt: number): Promise<InvocationRecord | null> {
    for (;;) {
      const record = await this.records.get(this.tenant, this.invocation);
      if (record !== null && isSettled(record)) return record;
      const leftMs = Math.ceil(endAt - performance.now());
      const isChanged = leftMs > 0 && !this.stopping.aborted && (await following.next(leftMs));
      if (!isChanged) return record;
    }
  }

  close(): void {
    void this.following.then((following) => following.close()).catch(() => undefined);
  }
}

/** `awaiting_server` is not: nobody but the server can do anything about it. */
function isSettled(record: InvocationRecord): boolean {
  return record.outcome !== null || record.status === 'awaiting_input';
}
