import {
  type DisputeStatementInput,
  type DisputeStatementRecordSchema,
  type DisputeStatementSchema,
  isDisputeUndecided,
  type VendorDeclineReason,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Database, Scope } from '../../../db/database.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import { invalidRequest } from '../../../http/errors.ts';
import type { Sealer } from '../../../lib/crypto.ts';
import { orderState, refusedTransition } from '../lifecycle/act-on-order.ts';
import type { OrderRow } from '../lifecycle/order.ts';
import {
  type DeclineRow,
  type DisputeStatementRow,
  declinesOf,
  disputeStatementsOf,
  insertDecline,
  insertDisputeStatement,
  type ProofSummaryRow,
  proofsOfOrder,
} from './vendor-answer.store.ts';

export const disputeStatementContext = (statementId: string) => `dispute_statements:${statementId}`;

type Statement = Static<typeof DisputeStatementSchema>;

/** A vendor's side of a dispute, while an operator can still decide it. It moves nothing: the operator reads it. */
export async function stateInDispute(
  unit: UnitOfWork,
  sealer: Sealer,
  order: OrderRow,
  vendorId: string,
  given: Static<typeof DisputeStatementInput>,
): Promise<Static<typeof DisputeStatementRecordSchema>> {
  if (!isDisputeUndecided(orderState(order))) {
    throw refusedTransition({ kind: 'refused', code: 'INVALID_STATUS', row: order }, 'vendor');
  }
  const words = given.text.trim();
  if (words === '') throw invalidRequest('text', 'must say something');
  const proofId = given.proof_id ?? null;
  const proofs = proofId === null ? [] : await unit.tx.query(proofsOfOrder, [order.order_id]);
  if (proofId !== null && !proofs.some((proof) => proof.proof_id === proofId)) {
    throw invalidRequest('proof_id', 'must be a proof that you submitted for this order');
  }
  const statementId = unit.ids.uuid();
  const sealed = sealer.seal(words, disputeStatementContext(statementId));
  unit.tx.defer(insertDisputeStatement, [
    ...([statementId, order.partner_id, order.order_id, vendorId] as const),
    ...([proofId, sealed, unit.at] as const),
  ]);
  return {
    statement_id: statementId,
    vendor_id: vendorId,
    proof_id: proofId,
    created_at: unit.at.toISOString(),
  };
}

/** Why a vendor leaves the order to the next one. */
export function recordDecline(
  unit: UnitOfWork,
  order: OrderRow,
  vendorId: string,
  reason: VendorDeclineReason,
): void {
  unit.tx.defer(insertDecline, [
    unit.ids.uuid(),
    order.partner_id,
    order.order_id,
    vendorId,
    reason,
    unit.at,
  ]);
}

export interface VendorAnswers {
  readonly statements: DisputeStatementRow[];
  readonly proofs: {
    proof_id: string;
    vendor_id: string;
    verdict: ProofSummaryRow['verdict'];
    submitted_at: string;
    reviewed_at: string | null;
  }[];
}

/** Of one order, as far as the scope sees: a vendor its own, an operator all. */
export async function readVendorAnswers(db: Database, scope: Scope, orderId: string): Promise<VendorAnswers> {
  const [statements, proofs] = await db.transaction(scope, (tx) =>
    tx.queryBoth(disputeStatementsOf, [orderId], proofsOfOrder, [orderId]),
  );
  return {
    statements,
    proofs: proofs.map(({ submitted_at, reviewed_at, ...row }) => ({
      ...row,
      submitted_at: submitted_at.toISOString(),
      reviewed_at: reviewed_at?.toISOString() ?? null,
    })),
  };
}

/** Without the words. */
export function statementRecord({ statement_id, vendor_id, proof_id, created_at }: DisputeStatementRow) {
  return { statement_id, vendor_id, proof_id, created_at: created_at.toISOString() };
}

/** In clear: to the vendor that wrote it, and to an operator whose look is in the audit log. */
export function statementView(sealer: Sealer, row: DisputeStatementRow): Statement {
  const text = sealer.open(row.text_sealed, disputeStatementContext(row.statement_id));
  return { ...statementRecord(row), text };
}

export async function openStatements(
  unit: UnitOfWork,
  sealer: Sealer,
  orderId: string,
): Promise<Statement[]> {
  const rows = await unit.tx.query(disputeStatementsOf, [orderId]);
  return rows.map((row) => statementView(sealer, row));
}

export async function readDeclines(db: Database, scope: Scope, orderId: string) {
  const rows = await db.query(scope, declinesOf, [orderId]);
  return rows.map(({ vendor_id, reason, created_at }: DeclineRow) => ({
    vendor_id,
    reason: reason as VendorDeclineReason,
    at: created_at.toISOString(),
  }));
}
