import {
  FIAT_ACCOUNT_ACTIVE,
  FIAT_ACCOUNT_OPENING,
  type FiatAccountStatus,
  type FiatClientStatus,
} from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';

/** SQL of the accounts themselves. Their number can be guessed: every query of a partner's names the customer as well. */

export interface AccountRow {
  account_number: string;
  seal_id: string;
  partner_id: string;
  user_id: string;
  currency: string;
  currency_decimals: number;
  jurisdiction: string;
  status: FiatAccountStatus;
  bank_unavailable: boolean;
  details_sealed: string | null;
  bank_name: string | null;
  bic: string | null;
  bank_reference: string | null;
  created_at: Date;
}

const COLUMNS = `a.account_number::text, a.seal_id, a.partner_id, a.user_id, a.currency, a.currency_decimals,
  a.jurisdiction, a.status, a.bank_unavailable, a.details_sealed, a.bank_name, a.bic, a.bank_reference, a.created_at`;

/** Under the customer's lock, and unique in the database as well. */
export const insertAccount = statement<
  [
    sealId: string,
    partnerId: string,
    userId: string,
    currency: string,
    decimals: number,
    jurisdiction: string,
    status: FiatAccountStatus,
    at: Date,
  ],
  AccountRow
>(
  'fiat_accounts.insert',
  `INSERT INTO fiat_accounts AS a (seal_id, partner_id, user_id, currency, currency_decimals, jurisdiction, status,
     created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) RETURNING ${COLUMNS}`,
);

export const accountFor = statement<[userId: string, currency: string, jurisdiction: string], AccountRow>(
  'fiat_accounts.find_for',
  `SELECT ${COLUMNS} FROM fiat_accounts a WHERE a.user_id = $1 AND a.currency = $2 AND a.jurisdiction = $3`,
);

export const findAccount = statement<[accountNumber: string, userId: string], AccountRow>(
  'fiat_accounts.find',
  `SELECT ${COLUMNS} FROM fiat_accounts a WHERE a.account_number = $1 AND a.user_id = $2`,
);

export const listAccounts = statement<[userId: string], AccountRow>(
  'fiat_accounts.list',
  `SELECT ${COLUMNS} FROM fiat_accounts a WHERE a.user_id = $1 ORDER BY a.account_number`,
);

/** What opening it takes; no row once the person is erased. */
export const accountToOpen = statement<
  [sealId: string],
  AccountRow & {
    data_key_sealed: string;
    client_reference: string | null;
    fields_sealed: string;
    round: number;
  }
>(
  'fiat_accounts.find_to_open',
  `SELECT ${COLUMNS}, u.data_key_sealed, c.bank_reference AS client_reference, c.fields_sealed, c.round
     FROM fiat_accounts a JOIN users u USING (user_id) JOIN fiat_clients c USING (user_id)
    WHERE a.seal_id = $1 AND u.data_key_sealed IS NOT NULL`,
);

export const setAccountBankReference = statement<[sealId: string, reference: string, at: Date]>(
  'fiat_accounts.set_bank_reference',
  `UPDATE fiat_accounts SET bank_reference = $2, bank_unavailable = false, updated_at = $3
    WHERE seal_id = $1 AND bank_reference IS NULL`,
);

export const bankUnavailable = statement<[sealId: string, at: Date]>(
  'fiat_accounts.bank_unavailable',
  `UPDATE fiat_accounts SET bank_unavailable = true, updated_at = $2
    WHERE seal_id = $1 AND status = ${sqlWords(FIAT_ACCOUNT_OPENING)} AND NOT bank_unavailable`,
);

export const lockAccount = statement<[sealId: string], AccountRow>(
  'fiat_accounts.lock',
  `SELECT ${COLUMNS} FROM fiat_accounts a WHERE a.seal_id = $1 FOR UPDATE`,
);

export const moveAccount = statement<
  [
    sealId: string,
    status: FiatAccountStatus,
    detailsSealed: string | null,
    bankName: string | null,
    bic: string | null,
    bankUnavailable: boolean,
    at: Date,
  ]
>(
  'fiat_accounts.move',
  `UPDATE fiat_accounts SET status = $2, details_sealed = $3, bank_name = $4, bic = $5, bank_unavailable = $6,
          updated_at = $7
    WHERE seal_id = $1`,
);

export interface PaidAccountRow extends AccountRow {
  /** Null once the person is erased; the money is booked all the same. */
  data_key_sealed: string | null;
  collection_enabled: boolean;
}

/** An account as a transfer into it finds it. */
export const accountByReference = statement<[bankReference: string], PaidAccountRow>(
  'fiat_accounts.find_by_reference',
  `SELECT ${COLUMNS}, u.data_key_sealed, p.collection_enabled
     FROM fiat_accounts a JOIN users u USING (user_id) JOIN partners p ON p.partner_id = a.partner_id
    WHERE a.bank_reference = $1 AND a.status = ${sqlWords(FIAT_ACCOUNT_ACTIVE)}`,
);

export const collectionOf = statement<[partnerId: string], { collection_enabled: boolean }>(
  'fiat_accounts.collection_of',
  'SELECT collection_enabled FROM partners WHERE partner_id = $1',
);

/** SQL of customers as the bank knows them. */

export interface ClientRow {
  user_id: string;
  partner_id: string;
  round: number;
  status: FiatClientStatus;
  rejection_reasons: string[];
  fields_sealed: string;
  bank_reference: string | null;
  submitted_at: Date;
  updated_at: Date;
}

const CLIENT_COLUMNS = `c.user_id, c.partner_id, c.round, c.status, c.rejection_reasons, c.fields_sealed, c.bank_reference,
  c.submitted_at, c.updated_at`;

export const findClient = statement<[userId: string], ClientRow>(
  'fiat_clients.find',
  `SELECT ${CLIENT_COLUMNS} FROM fiat_clients c WHERE c.user_id = $1`,
);

/** With what opens its fields; no row once the person is erased. */
export const clientWithKey = statement<[userId: string], ClientRow & { data_key_sealed: string }>(
  'fiat_clients.find_with_key',
  `SELECT ${CLIENT_COLUMNS}, u.data_key_sealed FROM fiat_clients c JOIN users u USING (user_id)
    WHERE c.user_id = $1 AND u.data_key_sealed IS NOT NULL`,
);

/** A new round clears what the bank said in the one before. */
export const submitClient = statement<
  [userId: string, partnerId: string, round: number, status: FiatClientStatus, fieldsSealed: string, at: Date]
>(
  'fiat_clients.submit',
  `INSERT INTO fiat_clients AS c (user_id, partner_id, round, status, fields_sealed, submitted_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $6)
   ON CONFLICT (user_id) DO UPDATE SET round = excluded.round, status = excluded.status, rejection_reasons = '[]',
     fields_sealed = excluded.fields_sealed, bank_reference = NULL, submitted_at = excluded.submitted_at,
     updated_at = excluded.updated_at`,
);

export const setClientBankReference = statement<[userId: string, round: number, reference: string]>(
  'fiat_clients.set_bank_reference',
  'UPDATE fiat_clients SET bank_reference = $3 WHERE user_id = $1 AND round = $2',
);

/** The submission that the bank has answered; no row where a later one has taken its place. */
export const lockClient = statement<[userId: string, round: number], ClientRow>(
  'fiat_clients.lock',
  `SELECT ${CLIENT_COLUMNS} FROM fiat_clients c WHERE c.user_id = $1 AND c.round = $2 FOR UPDATE`,
);

export const decideClient = statement<[userId: string, status: FiatClientStatus, reasons: string, at: Date]>(
  'fiat_clients.decide',
  `UPDATE fiat_clients SET status = $2, rejection_reasons = $3::jsonb, updated_at = $4 WHERE user_id = $1`,
);
