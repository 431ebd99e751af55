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
}

const COLUMNS = `recipient_destination_id, version, partner_id, recipient_id, rail, currency, country_code,
  institution_id, format_id, beneficiary_type, details_sealed, created_at`;

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
  `SELECT ${COLUMNS} FROM recipient_destinations WHERE recipient_id = $1
    ORDER BY created_at DESC, recipient_destination_id DESC LIMIT $2`,
);

export const countDestinations = statement<[recipientId: string], { total: string }>(
  'destinations.count',
  'SELECT count(*) AS total FROM recipient_destinations WHERE recipient_id = $1',
);

export const findDestination = statement<[destinationId: string, recipientId: string], DestinationRow>(
  'destinations.find',
  `SELECT ${COLUMNS} FROM recipient_destinations WHERE recipient_destination_id = $1 AND recipient_id = $2
    ORDER BY version DESC LIMIT 1`,
);
