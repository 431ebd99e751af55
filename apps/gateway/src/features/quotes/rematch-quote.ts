import { type Database, SYSTEM } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { chooseServing, type HonourTools, type Serving } from './honour-quote.ts';
import { claimedBy, findQuote, lockQuote, type QuoteRow, servingOfferOf } from './quote.store.ts';

/** The offer that serves a claimed quote at present. */
export async function servingOffer(unit: UnitOfWork, quoteId: string): Promise<string | null> {
  const [row] = await unit.tx.query(servingOfferOf, [quoteId]);
  return row?.serving_offer_id ?? null;
}

/**
 * The next vendor that would serve a claimed quote at its figures, other than those that declined it; its crypto is held
 * before the unit that appoints it begins, and given back where that unit appoints nobody.
 */
export async function withNextVendor<T>(
  tools: HonourTools & { readonly db: Database },
  quoteId: string,
  declinedOfferIds: readonly string[],
  work: (next: Serving | undefined) => Promise<{ readonly value: T; readonly appointed: boolean }>,
): Promise<T> {
  const [quote] = await tools.db.query(SYSTEM, findQuote, [quoteId]);
  const next = quote === undefined ? undefined : await chooseServing(tools, quote, declinedOfferIds);
  let isAppointed = false;
  try {
    const { value, appointed } = await work(next);
    isAppointed = appointed;
    return value;
  } finally {
    if (next !== undefined && !isAppointed) await tools.offers.holds.release(quoteId, next.offerId);
  }
}

/** The claimed quote is served by another vendor from now on. */
export async function appointVendor(
  unit: UnitOfWork,
  quoteId: string,
  direction: QuoteRow['direction'],
  next: Serving,
): Promise<void> {
  const [quote] = await unit.tx.query(lockQuote, [quoteId, direction]);
  if (quote === undefined) throw new Error(`there is no quote ${quoteId}`);
  unit.tx.defer(claimedBy, [quoteId, quote.status, next.vendorId, next.offerId]);
}
