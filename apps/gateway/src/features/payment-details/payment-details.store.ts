import { SCREENING_CLEAR, type ScreeningStatus } from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';
import { ACCOUNT_COLUMNS, type AccountRow, type AccountValues } from './account-details.ts';

export interface PaymentDetailsRow extends AccountRow {
  payment_details_id: string;
  seal_id: string;
  partner_id: string;
  user_id: string;
  validated: boolean;
  /** Of the account's holder, the customer's own name as any other. Only what an older release writes beside us has no case. */
  screening_status: ScreeningStatus;
}

const COLUMNS = `payment_details_id, seal_id, partner_id, user_id, validated, ${ACCOUNT_COLUMNS},
  coalesce((SELECT c.screening_status FROM screening_cases c WHERE c.subject_kind = 'payment_details'
    AND c.subject_key = payment_details_id::text), ${sqlWords(SCREENING_CLEAR)}) AS screening_status`;

export const insertPaymentDetails = statement<
  [
    sealId: string,
    partnerId: string,
    userId: string,
    ...account: AccountValues,
    at: Date,
    validated: boolean,
  ],
  PaymentDetailsRow
>(
  'payment_details.insert',
  `INSERT INTO payment_details (seal_id, partner_id, user_id, ${ACCOUNT_COLUMNS}, validated)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING ${COLUMNS}`,
);

export const findPaymentDetails = statement<[paymentDetailsId: string, userId: string], PaymentDetailsRow>(
  'payment_details.find',
  `SELECT ${COLUMNS} FROM payment_details WHERE payment_details_id = $1 AND user_id = $2`,
);

export const listPaymentDetails = statement<
  [userId: string, limit: number, offset: number],
  PaymentDetailsRow
>(
  'payment_details.list',
  `SELECT ${COLUMNS} FROM payment_details WHERE user_id = $1
    ORDER BY payment_details_id DESC LIMIT $2 OFFSET $3`,
);

export const countPaymentDetails = statement<[userId: string], { total: string }>(
  'payment_details.count',
  'SELECT count(*) AS total FROM payment_details WHERE user_id = $1',
);

export const idsOfUser = statement<[userId: string], { payment_details_id: string }>(
  'payment_details.ids_of_user',
  'SELECT payment_details_id::text FROM payment_details WHERE user_id = $1',
);

/** Whose account it is, for those who screen its holder; nothing once the customer is erased. */
export const holderOf = statement<
  [paymentDetailsId: string],
  Pick<PaymentDetailsRow, 'user_id' | 'seal_id' | 'beneficiary_type' | 'details_sealed'> & {
    data_key_sealed: string;
  }
>(
  'payment_details.holder',
  `SELECT p.user_id, p.seal_id, p.beneficiary_type, p.details_sealed, u.data_key_sealed
     FROM payment_details p JOIN users u USING (user_id)
    WHERE p.payment_details_id = $1::bigint AND u.data_key_sealed IS NOT NULL`,
);
