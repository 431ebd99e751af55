import {
  type Asset,
  decimalToWireNumber,
  type FeeBreakdownSchema,
  formatFixed,
  formatPercent,
  type OnrampPrice,
  type Percent,
  type QuoteSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Corridor } from './first-corridor.ts';

interface Quoted {
  readonly quoteId: string;
  readonly expiresAt: Date;
  readonly price: OnrampPrice;
  readonly crypto: Asset;
  readonly corridor: Corridor;
  readonly platformFee: Percent;
  readonly partnerFee: Percent;
}

export function quoteView(quoted: Quoted): Static<typeof QuoteSchema> {
  const { price, crypto, corridor } = quoted;
  return {
    quote_id: quoted.quoteId,
    rate: corridor.rateText,
    crypto_amount: formatFixed(price.cryptoAmount, crypto.decimals),
    fiat_amount: formatFixed(price.fiatAmount, corridor.fiat.decimals),
    fee_breakdown: feeBreakdown(
      price.platformFee,
      formatPercent(quoted.platformFee),
      price.partnerFee,
      formatPercent(quoted.partnerFee),
      crypto.decimals,
    ),
    payment_method_slug: corridor.paymentMethodSlug,
    payment_network_slug: corridor.paymentNetworkSlug,
    expires_at: quoted.expiresAt.toISOString(),
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
