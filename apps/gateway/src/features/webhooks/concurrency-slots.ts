/**
 * The slots that all endpoints' deliveries share in this process. A slot is held from the claim until the outcome is
 * recorded, except by an attempt whose receiver lets it wait: that one goes on without a slot. However
 * many endpoints hang, and however long their queues are, the slots are soon there for those that answer.
 */
export interface ConcurrencySlots {
  free(): number;
  take(endpointId: string): Slot;
  /** Takes the slots of attempts that have waited too long; answers whose they were, once for each. */
  withdrawFromSlow(now: number): string[];
}

export interface Slot {
  /** The receiver has answered, or never will; what follows is our own work and keeps the slot. */
  answered(): void;
  giveBack(): void;
}

export interface ConcurrencySlotsOptions {
  readonly size: number;
  readonly now: () => number;
}

/** Long for a receiver that works, short against the ten seconds it may take. */
export const SLOW_AFTER_MS = 1_000;
/** Attempts without a slot are bounded too: each is a connection and a body in memory. */
const MOST_WITHOUT_SLOT = 2_048;

export function createConcurrencySlots({ size, now }: ConcurrencySlotsOptions): ConcurrencySlots {
  // In the order they began, so that the slow ones are at the head.
  const waiting = new Map<Slot, { readonly endpointId: string; readonly since: number }>();
  const withoutSlot = new Set<Slot>();
  let taken = 0;

  return {
    free: () => size - taken,
    take(endpointId) {
      taken += 1;
      const slot: Slot = {
        answered: () => {
          waiting.delete(slot);
        },
        giveBack: () => {
          waiting.delete(slot);
          if (!withoutSlot.delete(slot)) taken -= 1;
        },
      };
      waiting.set(slot, { endpointId, since: now() });
      return slot;
    },
    withdrawFromSlow(at) {
      const slow: string[] = [];
      for (const [slot, { endpointId, since }] of waiting) {
        if (at - since < SLOW_AFTER_MS || withoutSlot.size >= MOST_WITHOUT_SLOT) break;
        waiting.delete(slot);
        withoutSlot.add(slot);
        taken -= 1;
        slow.push(endpointId);
      }
      return slow;
    },
  };
}
