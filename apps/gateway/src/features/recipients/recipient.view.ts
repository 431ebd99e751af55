import type { DestinationSchema, RecipientSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { type AccountDetails, accountView } from '../payment-details/account-details.ts';
import type { DetailsCheck } from '../payment-details/details-check.ts';
import { maskValue } from '../payment-details/validation/mask-details.ts';
import type { DestinationRow, RecipientRow } from './recipient.store.ts';
import type { RecipientData } from './recipient.ts';

/** Names are shown to the partner that gave them; identifiers are masked. */
export function recipientView(row: RecipientRow, data: RecipientData): Static<typeof RecipientSchema> {
  return {
    recipient_id: row.recipient_id,
    recipient_kind: row.recipient_kind,
    recipient_name: data.recipient_name,
    recipient_native_name: data.recipient_native_name,
    recipient_country: data.recipient_country,
    recipient_id_type: data.recipient_id_type,
    recipient_id_number_masked: masked(data.recipient_id_number),
    recipient_business_registration_number_masked: masked(data.recipient_business_registration_number),
    screening_status: row.screening_status,
    status: row.status,
    version: row.current_version,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function destinationView(
  check: DetailsCheck,
  row: DestinationRow,
  details: AccountDetails,
): Static<typeof DestinationSchema> {
  return {
    recipient_destination_id: row.recipient_destination_id,
    recipient_id: row.recipient_id,
    ...accountView(check, row, details),
    ...(row.screening_status === undefined ? {} : { screening_status: row.screening_status }),
    version: row.version,
  };
}

const masked = (value: string | null): string | null => (value === null ? null : maskValue(value));
