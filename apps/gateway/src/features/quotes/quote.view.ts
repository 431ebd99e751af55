import {
  decimalToWireNumber,
  type FeeBreakdownSchema,
  formatFixed,
  formatPercent,
  type OfframpQuoteSchema,
  type Percent,
  type PricedSchema,
  type QuoteSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Match, MatchRequest } from '../../ports/offers.ts';

/** What was asked, what serves it, and what the platform takes: all that a price on the wire is made of. */
export interface Priced {
  readonly terms: MatchRequest;
  readonly match: Match;
  readonly platformFee: Percent;
}

export interface Issued extends Priced {
  readonly quoteId: string;
  readonly expiresAt: Date;
}

export function pricedView({ terms, match, platformFee }: Priced): Static<typeof PricedSchema> {
  const { price } = match;
  const { decimals } = terms.crypto;
  return {
    rate: match.rate,
    crypto_amount: formatFixed(price.cryptoAmount, decimals),
    fiat_amount: formatFixed(price.fiatAmount, terms.fiat.decimals),
    fee_breakdown: feeBreakdown(
      price.platformFee,
      formatPercent(platformFee),
      price.partnerFee,
      formatPercent(terms.partnerFee),
      decimals,
    ),
    payment_method_slug: match.paymentMethodSlug,
    payment_network_slug: match.paymentNetworkSlug,
  };
}

export function quoteView(issued: Issued): Static<typeof QuoteSchema> {
  return {
    quote_id: issued.quoteId,
    ...pricedView(issued),
    has_fiat_settlement_notification: issued.match.hasFiatSettlementNotification,
    expires_at: issued.expiresAt.toISOString(),
  };
}

export function offrampQuoteView(issued: Issued): Static<typeof OfframpQuoteSchema> {
  return {
    ...quoteView(issued),
    anchor_type: issued.terms.anchor,
  };
}

/** The total is the sum of what was rounded, never rounded again. */
export function feeBreakdown(
  platformFee: bigint,
  platformFeePct: string,
  partnerFee: bigint,
  partnerFeePct: string,
  decimals: number,
): Static<typeof FeeBreakdownSchema> {
  return {
    platform_fee: formatFixed(platformFee, decimals),
    platform_fee_pct: decimalToWireNumber(platformFeePct),
    partner_fee: formatFixed(partnerFee, decimals),
    partner_fee_pct: decimalToWireNumber(partnerFeePct),
    total_fee: formatFixed(platformFee + partnerFee, decimals),
  };
}
