import type { KycStatus, ScreeningStatus } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';
import type { PaymentDetailsPlace, ThirdPartyRow } from './payee.ts';

/** Customer and payee in one look: a quote has two round trips, and the other one writes it. */

/** Details are found by customer and number, so a guessed number finds nothing of anybody else's. */
export const customerWithDetails = statement<
  [userId: string, paymentDetailsId: string],
  { kyc_status: KycStatus; holder_status: ScreeningStatus } & (
    | PaymentDetailsPlace
    | { payment_details_id: null }
  )
>(
  'quotes.customer_with_details',
  `SELECT u.kyc_status, p.payment_details_id, p.rail, p.currency, p.country_code, p.institution_id,
          coalesce((SELECT c.screening_status FROM screening_cases c WHERE c.subject_kind = 'payment_details'
            AND c.subject_key = p.payment_details_id::text), 'clear') AS holder_status
     FROM users u
     LEFT JOIN payment_details p ON p.payment_details_id = $2::bigint AND p.user_id = u.user_id
    WHERE u.user_id = $1 AND u.erased_at IS NULL`,
);

/** Archived recipients are not used for new quotes. */
export const senderWithRecipient = statement<
  [senderId: string, recipientId: string, destinationId: string],
  ThirdPartyRow
>(
  'quotes.sender_with_recipient',
  `SELECT u.kyc_status, r.recipient_id, r.partner_id, r.recipient_kind, r.status, r.screening_status, r.screening_round,
          r.current_version, r.recipient_country, r.data_key_sealed, r.created_at, r.updated_at, v.recipient_id_type,
          v.fields_sealed, d.recipient_destination_id, d.version, d.rail, d.currency, d.country_code, d.institution_id,
          d.format_id, d.beneficiary_type, d.details_sealed, d.created_at AS destination_created_at,
          (SELECT c.screening_status FROM screening_cases c WHERE c.subject_kind = 'destination'
            AND c.subject_key = d.recipient_destination_id::text) AS holder_status
     FROM users u
     LEFT JOIN (recipients r JOIN recipient_versions v
                  ON v.recipient_id = r.recipient_id AND v.version = r.current_version)
       ON r.recipient_id = $2 AND r.status = 'active' AND r.erased_at IS NULL
     LEFT JOIN LATERAL (
       SELECT * FROM recipient_destinations x
        WHERE x.recipient_destination_id = $3 AND x.recipient_id = r.recipient_id
        ORDER BY x.version DESC LIMIT 1) d ON true
    WHERE u.user_id = $1 AND u.erased_at IS NULL`,
);
