/**
 * Places of calls that live on a connection of this worker: taken before a call's first leg is begun, and kept for as long as a leg of it may
 * still come, so that no call is asked a question here that nobody can watch over. Bounded for all together and for every tenant.
 */

import type { BoundCall } from '../../domain/call.js';

export type CallId = Pick<BoundCall, 'tenant' | 'invocation'>;

export interface PlacesOptions {
  readonly max: number;
  /** So that one tenant cannot take them all. */
  readonly maxPerTenant: number;
  /** How long a place waits for what the workflow does next; whoever died meanwhile loses it. */
  readonly keepMs: number;
  /** Told once a call has no place any more. */
  readonly onFree: (call: CallId) => void;
}

interface Place {
  readonly call: CallId;
  /** A leg of the call was begun, or it is watched: without that, the place is not the call's but of those who are about to send one. */
  isOfCall: boolean;
  legs: number;
  watches: number;
  timer?: NodeJS.Timeout;
}

/** What one attempt at a leg has of its call's place. Another one may have it as well: a history that is reset dispatches a leg again. */
export interface LegPlace {
  /** The leg is begun: from now on the place is the call's. */
  begin(): void;
  /** Has to be called once. @param isOver whether no other leg of the call will come: otherwise its place is kept for a while */
  leave(isOver: boolean): void;
}

export class Places {
  readonly #options: PlacesOptions;
  readonly #places = new Map<string, Place>();

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Whether a new call may have a place; one that has a place already may keep it. */
  hasRoomFor({ tenant, invocation }: CallId): boolean {
    if (this.#places.has(invocation)) return true;
    const { max, maxPerTenant } = this.#options;
    const ofTenant = [...this.#places.values()].filter(({ call }) => call.tenant === tenant);
    return this.#places.size < max && ofTenant.length < maxPerTenant;
  }

  /** A leg is about to be sent; later ones are let in because the first was. */
  enter(call: CallId): LegPlace {
    const place = this.#of(call);
    clearTimeout(place.timer);
    place.legs += 1;
    return {
      begin: () => (place.isOfCall = true),
      leave: (isOver) => {
        place.legs -= 1;
        if (place.legs > 0) return;
        if (isOver || !place.isOfCall) this.#free(place);
        else this.#keep(place);
      },
    };
  }

  /** The call is parked, and watched. @returns ends that */
  watch(call: CallId): () => void {
    const place = this.#of(call);
    clearTimeout(place.timer);
    place.isOfCall = true;
    place.watches += 1;
    return () => {
      place.watches -= 1;
      this.#keep(place);
    };
  }

  #of({ tenant, invocation }: CallId): Place {
    const known = this.#places.get(invocation);
    if (known !== undefined) return known;
    const place = { call: { tenant, invocation }, isOfCall: false, legs: 0, watches: 0 };
    this.#places.set(invocation, place);
    return place;
  }

  /** For a while, unless a leg or a watch keeps it anyway. */
  #keep(place: Place): void {
    clearTimeout(place.timer);
    if (place.legs > 0 || place.watches > 0) return;
    place.timer = setTimeout(() => this.#free(place), this.#options.keepMs).unref();
  }

  #free(place: Place): void {
    clearTimeout(place.timer);
    // The call may have got another one since.
    if (this.#places.get(place.call.invocation) !== place) return;
    this.#places.delete(place.call.invocation);
    this.#options.onFree(place.call);
  }
}
