/**
 * The places that all partners' deliveries share in this process. A place is held from the claim until the outcome is
 * recorded, except by an attempt whose receiver lets it wait: that one goes on without a place. However
 * many endpoints hang, and however long their queues are, the places are soon there for those that answer.
 */
export interface ConcurrencySlots {
  free(): number;
  take(partnerId: string): Place;
  /** Takes the places of attempts that have waited too long; answers whose they were, once for each. */
  withdrawFromSlow(now: number): string[];
}

export interface Place {
  /** The receiver has answered, or never will; what follows is our own work and keeps the place. */
  answered(): void;
  giveBack(): void;
}

export interface ConcurrencySlotsOptions {
  readonly size: number;
  readonly now: () => number;
}

/** Long for a receiver that works, short against the ten seconds it may take. */
export const SLOW_AFTER_MS = 1_000;
/** Attempts without a place are bounded too: each is a connection and a body in memory. */
const MOST_WITHOUT_PLACE = 2_048;

export function createConcurrencySlots({ size, now }: ConcurrencySlotsOptions): ConcurrencySlots {
  // In the order they began, so that the slow ones are at the head.
  const waiting = new Map<Place, { readonly partnerId: string; readonly since: number }>();
  const withoutPlace = new Set<Place>();
  let taken = 0;

  return {
    free: () => size - taken,
    take(partnerId) {
      taken += 1;
      const place: Place = {
        answered: () => {
          waiting.delete(place);
        },
        giveBack: () => {
          waiting.delete(place);
          if (!withoutPlace.delete(place)) taken -= 1;
        },
      };
      waiting.set(place, { partnerId, since: now() });
      return place;
    },
    withdrawFromSlow(at) {
      const slow: string[] = [];
      for (const [place, { partnerId, since }] of waiting) {
        if (at - since < SLOW_AFTER_MS || withoutPlace.size >= MOST_WITHOUT_PLACE) break;
        waiting.delete(place);
        withoutPlace.add(place);
        taken -= 1;
        slow.push(partnerId);
      }
      return slow;
    },
  };
}
