/**
 * Whether what a call was bound to still stands when its answer arrives (design §4), by the API's registry. Where it does not, the call is told
 * to look for itself, by its worker's: the workflow alone ends it.
 */

import { Inject, Injectable } from '@nestjs/common';
import { lostPart, type RegisteredPart } from '../../domain/binding.js';
import type { ConsentRecord } from '../../domain/consent.js';
import { CallWorkflows } from '../invocations/call-workflows.js';
import { Log } from '../log/log.js';
import { Registry } from '../servers/registry.js';
import { Keys } from '../store/keys.js';
import type { Redis } from '../store/redis.js';
import { REDIS } from '../store/redis.token.js';

/**
 * While a deployment is under way workers may have another registry and find nothing wrong, however often the person tries. A signal stays in the
 * history, which has an end: so a call hears of a doubt once in this time.
 */
const pauseMs = 60_000;

@Injectable()
export class BindingDoubts {
  constructor(
    private readonly registry: Registry,
    private readonly workflows: CallWorkflows,
    @Inject(REDIS) private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly log: Log,
  ) {}

  /** @returns undefined also for a question from before its binding was kept */
  lostPart({ bound, server }: ConsentRecord): RegisteredPart | undefined {
    return bound && lostPart(bound, this.registry.get(server));
  }

  /** Never throws: a call that could not be told is told with the next answer. */
  async tell({ tenant, invocation }: ConsentRecord): Promise<void> {
    const key = this.keys.bindingDoubt(tenant, invocation);
    const expiration = { type: 'PX', value: pauseMs } as const;
    try {
      const isNew = (await this.redis.set(key, '', { condition: 'NX', expiration })) !== null;
      if (isNew) await this.workflows.refresh(tenant, invocation);
    } catch (error) {
      await this.redis.del(key).catch(() => undefined);
      this.log.warn(
        { event: 'binding_doubt_not_told', invocation, err: error },
        'a call that may have lost its binding could not be told',
      );
    }
  }
}
