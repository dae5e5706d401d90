/** The person whom all calls of a rig ask: looks into the inbox, and answers whatever is open until it counts. */

import { setTimeout as delay } from 'node:timers/promises';
import { rest } from '../../tools/rest.js';
import type { Call } from './call.js';
import type { Rig } from './rig.js';

const lookEveryMs = 700;

interface InboxItem {
  readonly id: string;
  readonly invocation: string;
  readonly round: number;
}

export class Person {
  private readonly underWay = new Set<string>();
  private isHere = true;

  constructor(
    private readonly rig: Rig,
    private readonly calls: readonly Call[],
  ) {
    void this.work();
  }

  leave(): void {
    this.isHere = false;
  }

  private async work(): Promise<void> {
    while (this.isHere) {
      // An API that is away, or just started again: a person tries once more.
      for (const item of await this.inbox().catch(() => [])) void this.take(item);
      await delay(lookEveryMs);
    }
  }

  private async inbox(): Promise<InboxItem[]> {
    const items: InboxItem[] = [];
    for (let cursor = ''; ;) {
      const { status, body } = await rest(this.rig.api().url, await this.rig.token(), `/v1/consents?limit=100${cursor}`);
      if (status !== 200) return items;
      items.push(...(body.items as InboxItem[]));
      if (body.next === null) return items;
      cursor = `&cursor=${encodeURIComponent(body.next as string)}`;
    }
  }

  private async take({ id: consent, invocation, round }: InboxItem): Promise<void> {
    const call = this.calls.find((each) => each.id === invocation);
    if (call === undefined || this.underWay.has(consent)) return;
    this.underWay.add(consent);
    await call.answerFromInbox({ consent, round }).catch(() => {});
    this.underWay.delete(consent);
  }
}
