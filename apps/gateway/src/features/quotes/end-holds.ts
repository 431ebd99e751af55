import { orderStatusesWithOutcome } from '@causeway/protocol';
import type { Offers } from '../../upstream/offers.port.ts';

/** Far longer than the transaction that writes an order may take. */
const FORGOTTEN_AFTER_MS = 300_000;
const BATCH = 500;

// A dispute decides later whose the crypto is, so it ends no hold.
const SETTLED = orderStatusesWithOutcome('settled');
const STOPPED = orderStatusesWithOutcome('stopped');

/** Gives vendors back what orders no longer need. Run by workers every few seconds. */
export function endFinishedHolds({ offers }: { readonly offers: Offers }): Promise<number> {
  return offers.holds.endFinished({
    settled: SETTLED,
    stopped: STOPPED,
    forgottenAfterMs: FORGOTTEN_AFTER_MS,
    limit: BATCH,
  });
}
