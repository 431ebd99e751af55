import { statement } from '../../../db/statement.ts';

/** SQL of what vendors say about orders. */

export const insertDisputeStatement = statement<
  [
    statementId: string,
    partnerId: string,
    orderId: string,
    vendorId: string,
    proofId: string | null,
    textSealed: string,
    at: Date,
  ]
>(
  'disputes.insert_statement',
  `INSERT INTO dispute_statements (statement_id, partner_id, order_id, vendor_id, proof_id, text_sealed, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

export interface DisputeStatementRow {
  statement_id: string;
  vendor_id: string;
  proof_id: string | null;
  text_sealed: string;
  created_at: Date;
}

export const disputeStatementsOf = statement<[orderId: string], DisputeStatementRow>(
  'disputes.statements',
  `SELECT statement_id, vendor_id, proof_id, text_sealed, created_at FROM dispute_statements
    WHERE order_id = $1 ORDER BY created_at, statement_id`,
);

export interface ProofSummaryRow {
  proof_id: string;
  vendor_id: string;
  verdict: 'accepted' | 'rejected' | null;
  submitted_at: Date;
  reviewed_at: Date | null;
}

export const proofsOfOrder = statement<[orderId: string], ProofSummaryRow>(
  'disputes.proofs',
  `SELECT proof_id, vendor_id, verdict, submitted_at, reviewed_at FROM payment_proofs
    WHERE order_id = $1 ORDER BY submitted_at`,
);

export const insertDecline = statement<
  [declineId: string, partnerId: string, orderId: string, vendorId: string, reason: string, at: Date]
>(
  'orders.insert_decline',
  `INSERT INTO order_declines (decline_id, partner_id, order_id, vendor_id, reason, created_at)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);

export interface DeclineRow {
  vendor_id: string;
  reason: string;
  created_at: Date;
}

export const declinesOf = statement<[orderId: string], DeclineRow>(
  'orders.declines',
  'SELECT vendor_id, reason, created_at FROM order_declines WHERE order_id = $1 ORDER BY created_at',
);
