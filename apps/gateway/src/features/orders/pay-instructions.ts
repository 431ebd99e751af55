import { CausewayError, decide, ORDER_MACHINES } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { loadPaymentDetails, openPaymentDetails } from '../payment-details/load-payment-details.ts';
import { openDestination } from '../recipients/open-destination.ts';
import { lockUserRow } from '../users/load-user.ts';
import { factsOf } from './order.host.ts';
import { refusedTransition } from './order.refusals.ts';
import { type OrderSecrets, type PlainDetails, payerDetailsOf } from './order.secrets.ts';
import { destinationOfOrder, escrowSignatures } from './order.store.ts';
import type { OrderRow } from './order.types.ts';

/**
 * Where the vendor pays, or whom it asks for the payment, in clear. A buyer is told only once it could prove a payment
 * and has signed the refund: from then on the partner's deposit can go back without it.
 */
export async function paymentInstructions(
  secrets: OrderSecrets,
  unit: UnitOfWork,
  order: OrderRow,
): Promise<PlainDetails> {
  if (order.direction === 'onramp') {
    const payer = payerDetailsOf(secrets, order);
    if (payer === null) throw new CausewayError('OPERATION_NOT_ALLOWED');
    return payer;
  }
  const machine = ORDER_MACHINES.offramp;
  const decision = decide(machine, order.status, 'proof_submitted', factsOf(order), 'vendor');
  if (decision.kind === 'refused') {
    throw refusedTransition({ kind: 'refused', code: decision.code, row: order });
  }
  const signed = await unit.tx.query(escrowSignatures, [order.order_id, 'refund']);
  if (!signed.some(({ signer }) => signer.toLowerCase() === order.escrow?.buyer.toLowerCase())) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', { message: 'Sign the refund of the escrow first.' });
  }
  if (order.payment_details_id !== null) {
    const user = await lockUserRow(unit, order.user_id);
    const details = await loadPaymentDetails(unit, order.user_id, order.payment_details_id);
    return openPaymentDetails(secrets.vaults, user, details);
  }
  const [row] = await unit.tx.query(destinationOfOrder, [order.order_id]);
  return openDestination(secrets.vaults, unit, order.recipient_id ?? '', row?.recipient_destination_id ?? '');
}
