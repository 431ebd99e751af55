import { KYC_IN_REVIEW, type KycStatus } from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';

/** A customer as it is kept; what is personal of it is sealed. */
export interface UserRow {
  user_id: string;
  partner_id: string;
  reference_id: string | null;
  kyc_status: KycStatus;
  kyc_updated_at: Date;
  rejection_reasons: string[];
  created_at: Date;
  /** Null once the person is erased; such a row is not found by any statement of a partner. */
  data_key_sealed: string | null;
  profile_sealed: string | null;
}

const COLUMNS = `user_id, partner_id, reference_id, kyc_status, kyc_updated_at, rejection_reasons, created_at,
  data_key_sealed, profile_sealed`;

export const insertUser = statement<
  [
    userId: string,
    partnerId: string,
    dataKeySealed: string,
    profileSealed: string,
    emailIndex: string,
    referenceId: string | null,
    kycStatus: KycStatus,
    at: Date,
  ]
>(
  'users.insert',
  `INSERT INTO users (user_id, partner_id, data_key_sealed, profile_sealed, email_index, reference_id, kyc_status,
     kyc_updated_at, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
);

export const findUser = statement<[userId: string], UserRow>(
  'users.find',
  `SELECT ${COLUMNS} FROM users WHERE user_id = $1 AND erased_at IS NULL`,
);

export const lockUser = statement<[userId: string], UserRow>(
  'users.lock',
  `SELECT ${COLUMNS} FROM users WHERE user_id = $1 AND erased_at IS NULL FOR UPDATE`,
);

type UserFilter = [
  partnerId: string,
  emailIndex: string | null,
  referenceId: string | null,
  kycStatus: string | null,
];

const FILTER = `partner_id = $1 AND erased_at IS NULL AND ($2::text IS NULL OR email_index = $2)
  AND ($3::text IS NULL OR reference_id = $3) AND ($4::text IS NULL OR kyc_status = $4)`;

export const listUsers = statement<[...UserFilter, limit: number, offset: number], UserRow>(
  'users.list',
  `SELECT ${COLUMNS} FROM users WHERE ${FILTER} ORDER BY created_at DESC, user_id DESC LIMIT $5 OFFSET $6`,
);

export const countUsers = statement<UserFilter, { total: string }>(
  'users.count',
  `SELECT count(*) AS total FROM users WHERE ${FILTER}`,
);

export const updateKyc = statement<[userId: string, status: KycStatus, rejectionReasons: string, at: Date]>(
  'users.update_kyc',
  `UPDATE users SET kyc_status = $2, rejection_reasons = $3::jsonb, kyc_updated_at = $4 WHERE user_id = $1`,
);

export const listUnderReview = statement<[limit: number, offset: number], UserRow>(
  'users.list_under_review',
  `SELECT ${COLUMNS} FROM users WHERE kyc_status = ${sqlWords(KYC_IN_REVIEW)} AND erased_at IS NULL
    ORDER BY kyc_updated_at, user_id LIMIT $1 OFFSET $2`,
);

export const countUnderReview = statement<[], { total: string }>(
  'users.count_under_review',
  `SELECT count(*) AS total FROM users WHERE kyc_status = ${sqlWords(KYC_IN_REVIEW)} AND erased_at IS NULL`,
);

/** The row stays, for orders refer to it; the person in it is gone. The index is made one that nothing equals. */
export const eraseUserColumns = statement<[userId: string, at: Date]>(
  'users.erase',
  `UPDATE users SET data_key_sealed = NULL, profile_sealed = NULL, reference_id = NULL,
          email_index = 'erased:' || user_id, erased_at = $2
    WHERE user_id = $1`,
);

export const findUserByIndex = statement<[partnerId: string, emailIndex: string], { user_id: string }>(
  'users.find_by_email_index',
  'SELECT user_id FROM users WHERE partner_id = $1 AND email_index = $2 AND erased_at IS NULL',
);
