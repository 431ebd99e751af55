import type { KycStatus } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';

export interface UserRow {
  user_id: string;
  partner_id: string;
  reference_id: string | null;
  kyc_status: KycStatus;
  kyc_updated_at: Date;
  rejection_reasons: string[];
  created_at: Date;
}

const COLUMNS =
  'user_id, partner_id, reference_id, kyc_status, kyc_updated_at, rejection_reasons, created_at';

export const insertUser = statement<
  [
    userId: string,
    partnerId: string,
    emailSealed: string,
    emailIndex: string,
    referenceId: string | null,
    kycStatus: KycStatus,
    at: Date,
  ]
>(
  'users.insert',
  `INSERT INTO users (user_id, partner_id, email_sealed, email_index, reference_id, kyc_status, kyc_updated_at, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`,
);

export const findUser = statement<[userId: string], UserRow & { email_sealed: string }>(
  'users.find',
  `SELECT ${COLUMNS}, email_sealed FROM users WHERE user_id = $1`,
);

export const lockUser = statement<[userId: string], UserRow>(
  'users.lock',
  `SELECT ${COLUMNS} FROM users WHERE user_id = $1 FOR UPDATE`,
);

export const updateKyc = statement<[userId: string, status: KycStatus, rejectionReasons: string, at: Date]>(
  'users.update_kyc',
  `UPDATE users SET kyc_status = $2, rejection_reasons = $3::jsonb, kyc_updated_at = $4 WHERE user_id = $1`,
);
