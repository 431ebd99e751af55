import type { ScreeningStatus } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';

export interface DestinationRow {
  recipient_destination_id: string;
  version: number;
  partner_id: string;
  recipient_id: string;
  rail: string;
  currency: string;
  country_code: string;
  institution_id: string | null;
  format_id: string | null;
  beneficiary_type: 'individual' | 'business';
  details_sealed: string;
  created_at: Date;
  /** Of the account's holder; not read by those who only look at the place. */
  screening_status?: ScreeningStatus;
}

const COLUMNS = `recipient_destination_id, version, partner_id, recipient_id, rail, currency, country_code,
  institution_id, format_id, beneficiary_type, details_sealed, created_at`;
const STATUS = `(SELECT c.screening_status FROM screening_cases c WHERE c.subject_kind = 'destination'
    AND c.subject_key = recipient_destination_id::text) AS screening_status`;

export const insertDestination = statement<
  [
    destinationId: string,
    partnerId: string,
    recipientId: string,
    rail: string,
    currency: string,
    countryCode: string,
    institutionId: string | null,
    formatId: string | null,
    beneficiaryType: string,
    detailsSealed: string,
    at: Date,
  ],
  DestinationRow
>(
  'destinations.insert',
  `INSERT INTO recipient_destinations (recipient_destination_id, version, partner_id, recipient_id, rail, currency,
     country_code, institution_id, format_id, beneficiary_type, details_sealed, created_at)
   VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${COLUMNS}`,
);

export const listDestinations = statement<[recipientId: string, limit: number], DestinationRow>(
  'destinations.list',
  `SELECT ${COLUMNS}, ${STATUS} FROM recipient_destinations WHERE recipient_id = $1
    ORDER BY created_at DESC, recipient_destination_id DESC LIMIT $2`,
);

export const countDestinations = statement<[recipientId: string], { total: string }>(
  'destinations.count',
  'SELECT count(*) AS total FROM recipient_destinations WHERE recipient_id = $1',
);

export const findDestination = statement<[destinationId: string, recipientId: string], DestinationRow>(
  'destinations.find',
  `SELECT ${COLUMNS}, ${STATUS} FROM recipient_destinations WHERE recipient_destination_id = $1 AND recipient_id = $2
    ORDER BY version DESC LIMIT 1`,
);

/** Where an account is, for those who screen its holder; nothing once the person is forgotten. */
export const holderOf = statement<
  [destinationId: string],
  Pick<DestinationRow, 'recipient_id' | 'beneficiary_type' | 'details_sealed'> & { data_key_sealed: string }
>(
  'destinations.holder',
  `SELECT d.recipient_id, d.beneficiary_type, d.details_sealed, r.data_key_sealed
     FROM recipient_destinations d JOIN recipients r USING (recipient_id)
    WHERE d.recipient_destination_id = $1::uuid AND r.data_key_sealed IS NOT NULL
    ORDER BY d.version DESC LIMIT 1`,
);
