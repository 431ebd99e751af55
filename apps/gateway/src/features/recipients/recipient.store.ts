import {
  RECIPIENT_ACTIVE,
  type RecipientStatus,
  SCREENING_IN_REVIEW,
  type ScreeningStatus,
} from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';
import { ACCOUNT_COLUMNS, type AccountRow, type AccountValues } from '../payment-details/account-details.ts';

const IN_REVIEW = sqlWords(SCREENING_IN_REVIEW);

export interface RecipientRow {
  recipient_id: string;
  partner_id: string;
  recipient_kind: 'individual' | 'business';
  status: RecipientStatus;
  screening_status: ScreeningStatus;
  screening_round: number;
  current_version: number;
  recipient_country: string;
  data_key_sealed: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface VersionRow {
  recipient_id: string;
  version: number;
  recipient_country: string;
  recipient_id_type: string | null;
  fields_sealed: string;
}

/** A recipient with what its current version says. */
export type CurrentRecipientRow = RecipientRow & Pick<VersionRow, 'recipient_id_type' | 'fields_sealed'>;

const COLUMNS = `r.recipient_id, r.partner_id, r.recipient_kind, r.status, r.screening_status, r.screening_round,
  r.current_version, r.recipient_country, r.data_key_sealed, r.created_at, r.updated_at, v.recipient_id_type,
  v.fields_sealed`;
const CURRENT = `recipients r JOIN recipient_versions v
  ON v.recipient_id = r.recipient_id AND v.version = r.current_version`;

export const insertRecipient = statement<
  [
    recipientId: string,
    partnerId: string,
    kind: string,
    status: string,
    screeningStatus: string,
    screeningRound: number,
    country: string,
    dataKeySealed: string,
    at: Date,
  ]
>(
  'recipients.insert',
  `INSERT INTO recipients (recipient_id, partner_id, recipient_kind, status, screening_status, screening_round,
     current_version, recipient_country, data_key_sealed, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $9)`,
);

export const insertVersion = statement<
  [
    recipientId: string,
    version: number,
    partnerId: string,
    country: string,
    idType: string | null,
    fieldsSealed: string,
    at: Date,
  ]
>(
  'recipients.insert_version',
  `INSERT INTO recipient_versions (recipient_id, version, partner_id, recipient_country, recipient_id_type,
     fields_sealed, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

export const findRecipient = statement<[recipientId: string], CurrentRecipientRow>(
  'recipients.find',
  `SELECT ${COLUMNS} FROM ${CURRENT} WHERE r.recipient_id = $1 AND r.erased_at IS NULL`,
);

export const lockRecipient = statement<[recipientId: string], CurrentRecipientRow>(
  'recipients.lock',
  `SELECT ${COLUMNS} FROM ${CURRENT} WHERE r.recipient_id = $1 AND r.erased_at IS NULL FOR UPDATE OF r`,
);

export const moveToVersion = statement<[recipientId: string, version: number, country: string, at: Date]>(
  'recipients.move_to_version',
  `UPDATE recipients SET current_version = $2, recipient_country = $3, updated_at = $4 WHERE recipient_id = $1`,
);

export const setRecipientStatus = statement<[recipientId: string, status: string, at: Date]>(
  'recipients.set_status',
  'UPDATE recipients SET status = $2, updated_at = $3 WHERE recipient_id = $1',
);

export const setScreening = statement<[recipientId: string, status: string, round: number, at: Date]>(
  'recipients.set_screening',
  `UPDATE recipients SET screening_status = $2, screening_round = $3, updated_at = $4 WHERE recipient_id = $1`,
);

export const insertTokens = statement<
  [partnerId: string, recipientId: string, source: string, tokens: readonly string[]]
>(
  'recipients.insert_tokens',
  `INSERT INTO recipient_tokens (partner_id, recipient_id, source, token)
   SELECT $1, $2, $3, unnest($4::text[]) ON CONFLICT DO NOTHING`,
);

export const deleteTokens = statement<[recipientId: string, sources: readonly string[]]>(
  'recipients.delete_tokens',
  'DELETE FROM recipient_tokens WHERE recipient_id = $1 AND source = ANY($2::text[])',
);

type Filter = [
  partnerId: string,
  screeningStatus: string | null,
  country: string | null,
  currency: string | null,
  rail: string | null,
];
type Search = [nameTokens: readonly string[], identifierToken: string | null, recipientId: string | null];

const FILTER = `r.partner_id = $1 AND r.status = ${sqlWords(RECIPIENT_ACTIVE)} AND r.erased_at IS NULL
  AND ($2::text IS NULL OR r.screening_status = $2) AND ($3::text IS NULL OR r.recipient_country = $3)
  AND (($4::text IS NULL AND $5::text IS NULL) OR EXISTS (
    SELECT FROM recipient_destinations d WHERE d.recipient_id = r.recipient_id
       AND ($4::text IS NULL OR d.currency = $4) AND ($5::text IS NULL OR d.rail = $5)))`;

// All words of a name, or one identifier, or the id itself.
const FOUND = `r.recipient_id IN (
    SELECT t.recipient_id FROM recipient_tokens t
     WHERE t.partner_id = $1 AND t.source = 'name' AND t.token = ANY($6::text[])
     GROUP BY t.recipient_id HAVING count(*) = cardinality($6::text[])
    UNION SELECT t.recipient_id FROM recipient_tokens t
     WHERE t.partner_id = $1 AND t.source <> 'name' AND t.token = $7
    UNION SELECT $8::uuid)`;
const ORDER = 'ORDER BY r.created_at DESC, r.recipient_id DESC';

export const listRecipients = statement<[...Filter, limit: number, offset: number], CurrentRecipientRow>(
  'recipients.list',
  `SELECT ${COLUMNS} FROM ${CURRENT} WHERE ${FILTER} ${ORDER} LIMIT $6 OFFSET $7`,
);

export const countRecipients = statement<Filter, { total: string }>(
  'recipients.count',
  `SELECT count(*) AS total FROM recipients r WHERE ${FILTER}`,
);

export const searchRecipients = statement<
  [...Filter, ...Search, limit: number, offset: number],
  CurrentRecipientRow
>(
  'recipients.search',
  `SELECT ${COLUMNS} FROM ${CURRENT} WHERE ${FILTER} AND ${FOUND} ${ORDER} LIMIT $9 OFFSET $10`,
);

export const countFound = statement<[...Filter, ...Search], { total: string }>(
  'recipients.count_found',
  `SELECT count(*) AS total FROM recipients r WHERE ${FILTER} AND ${FOUND}`,
);

export const listToReview = statement<[limit: number, offset: number], CurrentRecipientRow>(
  'recipients.list_to_review',
  `SELECT ${COLUMNS} FROM ${CURRENT} WHERE r.screening_status = ${IN_REVIEW} AND r.erased_at IS NULL
    ORDER BY r.updated_at, r.recipient_id LIMIT $1 OFFSET $2`,
);

export const countToReview = statement<[], { total: string }>(
  'recipients.count_to_review',
  `SELECT count(*) AS total FROM recipients WHERE screening_status = ${IN_REVIEW} AND erased_at IS NULL`,
);

/** The versions stay, for orders refer to them, and cannot be read any more. */
export const eraseRecipientColumns = statement<[recipientId: string, at: Date]>(
  'recipients.erase',
  `WITH tokens AS (DELETE FROM recipient_tokens WHERE recipient_id = $1)
   UPDATE recipients SET data_key_sealed = NULL, erased_at = $2, updated_at = $2 WHERE recipient_id = $1`,
);

export const insertScreening = statement<
  [
    recipientId: string,
    round: number,
    partnerId: string,
    result: string,
    listVersion: string,
    hitsSealed: string,
    at: Date,
  ]
>(
  'recipients.insert_screening',
  `INSERT INTO recipient_screenings (recipient_id, screening_round, partner_id, result, list_version, hits_sealed,
     screened_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
);

export const latestScreening = statement<
  [recipientId: string],
  { screening_round: number; result: string; list_version: string; hits_sealed: string; screened_at: Date }
>(
  'recipients.latest_screening',
  `SELECT screening_round, result, list_version, hits_sealed, screened_at FROM recipient_screenings
    WHERE recipient_id = $1 ORDER BY screening_round DESC LIMIT 1`,
);

export interface DestinationRow extends AccountRow {
  recipient_destination_id: string;
  version: number;
  partner_id: string;
  recipient_id: string;
  /** Of the account's holder; not read by those who only look at the place. */
  screening_status?: ScreeningStatus;
}

const DESTINATION_COLUMNS = `recipient_destination_id, version, partner_id, recipient_id, ${ACCOUNT_COLUMNS}`;
const STATUS = `(SELECT c.screening_status FROM screening_cases c WHERE c.subject_kind = 'destination'
    AND c.subject_key = recipient_destination_id::text) AS screening_status`;

export const insertDestination = statement<
  [destinationId: string, partnerId: string, recipientId: string, ...account: AccountValues, at: Date],
  DestinationRow
>(
  'destinations.insert',
  `INSERT INTO recipient_destinations (recipient_destination_id, version, partner_id, recipient_id, ${ACCOUNT_COLUMNS})
   VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${DESTINATION_COLUMNS}`,
);

export const listDestinations = statement<[recipientId: string, limit: number], DestinationRow>(
  'destinations.list',
  `SELECT ${DESTINATION_COLUMNS}, ${STATUS} FROM recipient_destinations WHERE recipient_id = $1
    ORDER BY created_at DESC, recipient_destination_id DESC LIMIT $2`,
);

export const countDestinations = statement<[recipientId: string], { total: string }>(
  'destinations.count',
  'SELECT count(*) AS total FROM recipient_destinations WHERE recipient_id = $1',
);

export const findDestination = statement<[destinationId: string, recipientId: string], DestinationRow>(
  'destinations.find',
  `SELECT ${DESTINATION_COLUMNS}, ${STATUS} FROM recipient_destinations WHERE recipient_destination_id = $1 AND recipient_id = $2
    ORDER BY version DESC LIMIT 1`,
);

/** Where an account is, for those who screen its holder; nothing once the person is erased. */
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
