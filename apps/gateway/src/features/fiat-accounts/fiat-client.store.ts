import { statement } from '../../db/statement.ts';

/** SQL of customers as the bank knows them. */

export interface ClientRow {
  user_id: string;
  partner_id: string;
  round: number;
  status: 'pending' | 'approved' | 'rejected';
  rejection_reasons: string[];
  fields_sealed: string;
  bank_reference: string | null;
  submitted_at: Date;
  updated_at: Date;
}

const COLUMNS = `c.user_id, c.partner_id, c.round, c.status, c.rejection_reasons, c.fields_sealed, c.bank_reference,
  c.submitted_at, c.updated_at`;

export const findClient = statement<[userId: string], ClientRow>(
  'fiat_clients.find',
  `SELECT ${COLUMNS} FROM fiat_clients c WHERE c.user_id = $1`,
);

/** With what opens its fields; no row once the person is forgotten. */
export const clientWithKey = statement<[userId: string], ClientRow & { data_key_sealed: string }>(
  'fiat_clients.find_with_key',
  `SELECT ${COLUMNS}, u.data_key_sealed FROM fiat_clients c JOIN users u USING (user_id)
    WHERE c.user_id = $1 AND u.data_key_sealed IS NOT NULL`,
);

/** A new round forgets what the bank said in the one before. */
export const submitClient = statement<
  [userId: string, partnerId: string, round: number, fieldsSealed: string, at: Date],
  ClientRow
>(
  'fiat_clients.submit',
  `INSERT INTO fiat_clients AS c (user_id, partner_id, round, status, fields_sealed, submitted_at, updated_at)
   VALUES ($1, $2, $3, 'pending', $4, $5, $5)
   ON CONFLICT (user_id) DO UPDATE SET round = excluded.round, status = 'pending', rejection_reasons = '[]',
     fields_sealed = excluded.fields_sealed, bank_reference = NULL, submitted_at = excluded.submitted_at,
     updated_at = excluded.updated_at
   RETURNING ${COLUMNS}`,
);

export const nameClient = statement<[userId: string, round: number, reference: string]>(
  'fiat_clients.name',
  'UPDATE fiat_clients SET bank_reference = $3 WHERE user_id = $1 AND round = $2',
);

export const decideClient = statement<
  [userId: string, round: number, status: string, reasons: string, at: Date]
>(
  'fiat_clients.decide',
  `UPDATE fiat_clients SET status = $3, rejection_reasons = $4::jsonb, updated_at = $5
    WHERE user_id = $1 AND round = $2 AND status = 'pending'`,
);
