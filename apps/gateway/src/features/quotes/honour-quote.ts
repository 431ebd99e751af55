import { formatShortest } from '@causeway/protocol';
import type { Logger } from '../../lib/logger.ts';
import type { Currencies } from '../../upstream/currencies.port.ts';
import {
  type FirmQuote,
  honourQuote,
  type OfferBook,
  type Offers,
  type VendorKind,
} from '../../upstream/offers.port.ts';
import { railLookupOf } from '../../upstream/offers-rails.ts';
import type { QuoteRow } from './quote.store.ts';
import { referenceRateOf } from './reference-rate.ts';

export interface HonourTools {
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
 * Who serves a quote, its crypto held; undefined where nobody can (docs/decisions/0004). The book says whom to try, the
 * conditional update of a balance says whether it is so: where it finds too little, the rule is applied again without
 * that offer. Never inside a transaction: holding asks the offers backend.
 */
export async function chooseServing(
  { offers, currencies, logger }: HonourTools,
  quote: QuoteRow,
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
    const honoured = honourQuote(book, firm, context);
    if (honoured.outcome === 'refused') {
      logger.info({ quote_id: quote.quote_id, ...honoured }, 'no vendor can serve the quote');
      return undefined;
    }
    const { offerId, vendorId, kind: provider } = honoured.serving.offer;
    if (await offers.holds.hold(quote.quote_id, offerId, needed)) {
      if (honoured.outcome === 'rematched') {
        const { quotedVendor: reason } = honoured;
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

function firmQuoteOf(quote: QuoteRow): FirmQuote {
  return {
    direction: quote.direction,
    crypto: { code: quote.crypto_currency, decimals: quote.crypto_decimals },
    fiat: { code: quote.fiat_currency, decimals: quote.fiat_decimals },
    // A quote without an offer finds none, and is served by whoever would trade at its rate.
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
