import { type Actor, CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Sealer } from '../../lib/crypto.ts';
import { moveOrder } from './act-on-order.ts';
import type { OrderHosts } from './order.host.ts';
import { findProof, insertProof, judgeProof } from './order.store.ts';
import type { OrderRow } from './order.types.ts';

/** What a buyer shows for its payment. */
export interface PaymentProof {
  readonly reference: string;
  readonly content_type?: string | undefined;
  /** Base64. */
  readonly content?: string | undefined;
}

export const proofContext = (proofId: string) => `payment_proofs:${proofId}`;

export function recordProof(
  unit: UnitOfWork,
  sealer: Sealer,
  order: OrderRow,
  vendorId: string,
  proof: PaymentProof,
): string {
  const proofId = unit.ids.uuid();
  const sealed = sealer.seal(JSON.stringify(proof), proofContext(proofId));
  unit.tx.defer(insertProof, [proofId, order.partner_id, order.order_id, vendorId, sealed, unit.at]);
  return proofId;
}

/** What was shown, in clear. A person who was forgotten took it along. */
export async function openProof(
  unit: UnitOfWork,
  sealer: Sealer,
  proofId: string,
): Promise<{ readonly orderId: string; readonly proof: PaymentProof }> {
  const [row] = await unit.tx.query(findProof, [proofId]);
  if (row === undefined || row.proof_sealed === null) throw new CausewayError('PROOF_NOT_FOUND');
  const text = sealer.open(row.proof_sealed, proofContext(row.proof_id));
  return { orderId: row.order_id, proof: JSON.parse(text) as PaymentProof };
}

export type ProofVerdict = 'accepted' | 'rejected';

/** The verdict on the proof under review; the third refusal ends the order, as the table says. */
export function decideProof(
  unit: UnitOfWork,
  hosts: OrderHosts,
  order: OrderRow,
  verdict: ProofVerdict,
  actor: Actor,
): OrderRow {
  const moved = moveOrder(unit, hosts, order, `proof_${verdict}`, actor);
  unit.tx.defer(judgeProof, [order.order_id, verdict, unit.at]);
  return moved;
}
