/**
 * Places of calls that live on a connection of this worker: taken before a call's first leg is sent, and kept for as long as a leg of it may
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
  /** Each by the very object that began it: a call that was reset may have two at once. */
  readonly legs: Set<CallId>;
  watches: number;
  timer?: NodeJS.Timeout;
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
  beginLeg(call: CallId): void {
    const place = this.#of(call);
    clearTimeout(place.timer);
    place.legs.add(call);
  }

  /**
   * The leg is over, however it ended. Without effect for a call that has no place, or another leg under way.
   *
   * @param call the object that began it
   * @param goesOn whether another leg may follow on the connection
   */
  endLeg(call: CallId, goesOn: boolean): void {
    const place = this.#places.get(call.invocation);
    if (place === undefined) return;
    place.legs.delete(call);
    if (place.legs.size > 0) return;
    if (goesOn) this.#keep(place);
    else this.#free(place);
  }

  /** The call is parked, and watched. @returns ends that */
  watch(call: CallId): () => void {
    const place = this.#of(call);
    clearTimeout(place.timer);
    place.watches += 1;
    return () => {
      place.watches -= 1;
      this.#keep(place);
    };
  }

  #of({ tenant, invocation }: CallId): Place {
    const known = this.#places.get(invocation);
    if (known !== undefined) return known;
    const place = { call: { tenant, invocation }, legs: new Set<CallId>(), watches: 0 };
    this.#places.set(invocation, place);
    return place;
  }

  /** For a while, unless a leg or a watch keeps it anyway. */
  #keep(place: Place): void {
    clearTimeout(place.timer);
    if (place.legs.size > 0 || place.watches > 0) return;
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
