import type { PaymentDetailsSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { DetailsCheck } from './details-check.port.ts';
import type { PaymentDetailsRow } from './payment-details.store.ts';

export function paymentDetailsView(
  check: DetailsCheck,
  row: PaymentDetailsRow,
  details: Readonly<Record<string, string>>,
): Static<typeof PaymentDetailsSchema> {
  return {
    id: Number(row.payment_details_id),
    rail: row.rail,
    currency: row.currency,
    country_code: row.country_code,
    institution_id: row.institution_id,
    beneficiary_type: row.beneficiary_type,
    details: { ...check.mask(row.rail, details) },
    screening_status: row.screening_status,
    created_at: row.created_at.toISOString(),
  };
}
