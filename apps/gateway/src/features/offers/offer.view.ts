import type { OfferSchema, ReviewedOfferSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, SYSTEM } from '../../db/database.ts';
import { findReviewedOffer, type OfferRow, type ReviewedOfferRow } from './offer.store.ts';

export function offerView(row: OfferRow): Static<typeof OfferSchema> {
  return {
    offer_id: row.offer_id,
    side: row.side,
    crypto_currency: row.crypto_currency,
    fiat_currency: row.fiat_currency,
    price: row.fixed_price,
    margin_pct: row.margin_pct,
    min_amount: row.min_amount,
    max_amount: row.max_amount,
    payment_options: row.payment_options.map(({ network_slug, method_slugs }) => ({
      network_slug,
      ...(method_slugs === 'all' ? {} : { method_slugs: [...method_slugs] }),
    })),
    countries: [...row.countries],
    available_balance: row.available_balance,
    authorized: row.authorized,
    version: Number(row.version),
    created_at: row.created_at.toISOString(),
  };
}

export function reviewedOfferView(row: ReviewedOfferRow): Static<typeof ReviewedOfferSchema> {
  return { ...offerView(row), vendor_id: row.vendor_id, vendor_name: row.vendor_name };
}

/** One offer as an operator reviews it. */
export async function readReviewedOffer(
  db: Database,
  offerId: string,
): Promise<Static<typeof ReviewedOfferSchema> | null> {
  const [row] = await db.query(SYSTEM, findReviewedOffer, [offerId]);
  return row === undefined ? null : reviewedOfferView(row);
}
