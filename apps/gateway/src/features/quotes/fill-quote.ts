import { formatShortest } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Currencies } from '../../ports/currencies.ts';
import {
  type FirmQuote,
  fillQuote,
  type OfferBook,
  type Offers,
  type VendorKind,
} from '../../ports/offers.ts';
import { railLookupOf } from '../../upstream/offers/offers-market.ts';
import { referenceRateOf } from './pricing.ts';
import {
  claimedBy,
  findQuote,
  lockQuote,
  type QuoteRow,
  servingOfferOf,
  type UnlockedQuoteRow,
} from './quote.store.ts';

export interface FillDeps {
  readonly offers: Offers;
  readonly currencies: Currencies;
  readonly logger: Logger;
}

export interface Serving {
  readonly offerId: string;
  readonly vendorId: string;
  readonly provider: VendorKind;
}

/**
 * Who serves a quote, its crypto reserved; undefined where no vendor can (docs/decisions/0004). The book says whom to try, the
 * conditional update of a balance says whether it is so: where it finds too little, the rule is applied again without
 * that offer. Never inside a transaction: reserving asks the offers backend.
 */
export async function selectVendor(
  { offers, currencies, logger }: FillDeps,
  quote: UnlockedQuoteRow,
  declinedOfferIds: readonly string[] = [],
): Promise<Serving | undefined> {
  const { reference, rates } = currencies.current();
  const context = {
    referenceRate: referenceRateOf(rates, quote.crypto_currency, quote.fiat_currency),
    rail: railLookupOf(reference.catalogue),
  };
  const firm = firmQuoteOf(quote);
  const needed = cryptoNeeded(quote);
  for (let book = without(offers.book(), declinedOfferIds); ; ) {
    const filled = fillQuote(book, firm, context);
    if (filled.outcome === 'refused') {
      logger.info({ quote_id: quote.quote_id, ...filled }, 'no vendor can serve the quote');
      return undefined;
    }
    const { offerId, vendorId, kind: provider } = filled.serving.offer;
    if (await offers.reservations.reserve(quote.quote_id, offerId, needed)) {
      if (filled.outcome === 'reassigned') {
        const { quotedVendor: reason } = filled;
        logger.info(
          { quote_id: quote.quote_id, reason, offer_id: offerId },
          'another vendor serves the quote',
        );
      }
      return { offerId, vendorId, provider };
    }
    book = without(book, [offerId]);
  }
}

function without(book: OfferBook, offerIds: readonly string[]): OfferBook {
  return offerIds.length === 0 ? book : book.withChanged({ removedOfferIds: offerIds });
}

/** Whole crypto the vendor parts with or buys: a seller locks all of it, a buyer gets it less the platform's fee. */
export function cryptoNeeded(
  quote: Pick<QuoteRow, 'direction' | 'crypto_amount' | 'platform_fee' | 'crypto_decimals'>,
): string {
  const all = BigInt(quote.crypto_amount);
  const needed = quote.direction === 'onramp' ? all : all - BigInt(quote.platform_fee);
  return formatShortest(needed, quote.crypto_decimals);
}

function firmQuoteOf(quote: UnlockedQuoteRow): FirmQuote {
  return {
    direction: quote.direction,
    crypto: { code: quote.crypto_currency, decimals: quote.crypto_decimals },
    fiat: { code: quote.fiat_currency, decimals: quote.fiat_decimals },
    // A quote without an offer finds none, and is served by any vendor that would trade at its rate.
    offerId: quote.offer_id ?? '',
    offerVersion: Number(quote.offer_version ?? 0),
    rate: quote.rate,
    cryptoAmount: BigInt(quote.crypto_amount),
    fiatAmount: BigInt(quote.fiat_amount),
    platformFee: BigInt(quote.platform_fee),
    paymentMethodSlug: quote.payment_method_slug,
    paymentNetworkSlug: quote.payment_network_slug,
    country: quote.country_code ?? undefined,
    providerScope: quote.provider_scope,
    hasFiatSettlementNotification: quote.has_fiat_settlement_notification,
  };
}

/** The offer that serves a claimed quote at present. */
export async function servingOffer(unit: UnitOfWork, quoteId: string): Promise<string | null> {
  const [row] = await unit.tx.query(servingOfferOf, [quoteId]);
  return row?.serving_offer_id ?? null;
}

/**
 * The next vendor that would serve a claimed quote at its figures, other than those that declined it; its crypto is
 * reserved before the unit that reassigns the quote begins, and released where that unit does not.
 */
export async function withNextVendor<T>(
  deps: FillDeps & { readonly db: Database },
  quoteId: string,
  declinedOfferIds: readonly string[],
  work: (next: Serving | undefined) => Promise<{ readonly value: T; readonly reassigned: boolean }>,
): Promise<T> {
  const [quote] = await deps.db.query(SYSTEM, findQuote, [quoteId]);
  const next = quote === undefined ? undefined : await selectVendor(deps, quote, declinedOfferIds);
  let isReassigned = false;
  try {
    const { value, reassigned } = await work(next);
    isReassigned = reassigned;
    return value;
  } finally {
    if (next !== undefined && !isReassigned) await deps.offers.reservations.release(quoteId, next.offerId);
  }
}

/** The claimed quote is served by another vendor from now on. */
export async function reassignVendor(
  unit: UnitOfWork,
  quoteId: string,
  direction: QuoteRow['direction'],
  next: Serving,
): Promise<void> {
  const [quote] = await unit.tx.query(lockQuote, [quoteId, direction]);
  if (quote === undefined) throw new Error(`there is no quote ${quoteId}`);
  unit.tx.defer(claimedBy, [quoteId, quote.status, next.vendorId, next.offerId]);
}
