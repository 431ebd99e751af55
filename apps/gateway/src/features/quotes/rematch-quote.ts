import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Offers } from '../../upstream/offers.port.ts';
import { chooseServing, type HonourTools } from './honour-quote.ts';
import { claimedBy, lockQuote, type QuoteRow, servingOfferOf } from './quote.store.ts';

export interface NextVendor {
  readonly vendorId: string;
  readonly provider: 'p2p' | 'direct';
}

/** The offer that serves a claimed quote at present. */
export async function servingOffer(unit: UnitOfWork, quoteId: string): Promise<string | null> {
  const [row] = await unit.tx.query(servingOfferOf, [quoteId]);
  return row?.serving_offer_id ?? null;
}

/** The next vendor that would serve a claimed quote at its figures, other than those that declined it. */
export async function rematchQuote(
  tools: HonourTools,
  unit: UnitOfWork,
  quoteId: string,
  direction: QuoteRow['direction'],
  declinedOfferIds: readonly string[],
): Promise<NextVendor | undefined> {
  const [quote] = await unit.tx.query(lockQuote, [quoteId, direction]);
  if (quote === undefined) return undefined;
  const serving = await chooseServing(
    { ...tools, offers: withoutOffers(tools.offers, declinedOfferIds) },
    quote,
  );
  if (serving === undefined) return undefined;
  unit.tx.defer(claimedBy, [quoteId, quote.status, serving.vendorId, serving.offerId]);
  return { vendorId: serving.vendorId, provider: serving.provider };
}

/** What cannot be held is passed over by the matching, so a declined offer is one that cannot be held. */
function withoutOffers(offers: Offers, declinedOfferIds: readonly string[]): Offers {
  return {
    ...offers,
    holds: {
      ...offers.holds,
      hold: async (quoteId, offerId, crypto) =>
        !declinedOfferIds.includes(offerId) && offers.holds.hold(quoteId, offerId, crypto),
    },
  };
}
