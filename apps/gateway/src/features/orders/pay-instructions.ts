import { CausewayError } from '@causeway/protocol';
import { execute } from '../../engine/execute.ts';
import { RecordedRefusal, type UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Currencies } from '../../upstream/currencies.port.ts';
import { loadPaymentDetails, openPaymentDetails } from '../payment-details/load-payment-details.ts';
import { openDestination } from '../recipients/open-destination.ts';
import { lockUserRow } from '../users/load-user.ts';
import { moveOrder } from './act-on-order.ts';
import type { OrderHosts } from './order.host.ts';
import { refusedTransition } from './order.refusals.ts';
import { type OrderSecrets, type PlainDetails, payerDetailsOf } from './order.secrets.ts';
import { destinationOfOrder, escrowSignatures } from './order.store.ts';
import type { OrderRow } from './order.types.ts';
import { settlementCost } from './settlement-cost.ts';

export interface InstructionTools extends OrderSecrets {
  readonly orderHosts: OrderHosts;
  readonly currencies: Currencies;
}

/**
 * Where the vendor pays, or whom it asks for the payment, in clear. A buyer is told only once it could prove a payment
 * and has signed the refund: from then on the partner's deposit can go back without it. Having been told, a buyer pays
 * and nothing takes that back, so the customer's KYC and the cost are looked at here once more.
 */
export async function paymentInstructions(
  secrets: InstructionTools,
  unit: UnitOfWork,
  order: OrderRow,
): Promise<PlainDetails> {
  if (order.direction === 'onramp') {
    const payer = payerDetailsOf(secrets, order);
    if (payer === null) throw new CausewayError('OPERATION_NOT_ALLOWED');
    return payer;
  }
  moveOrder(unit, secrets.orderHosts, order, 'payout_details_requested', 'vendor');
  requireCostWithinBound(secrets, unit, order);
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

/** An order that became too costly while its buyer hesitated stops here, and the buyer is told so. */
function requireCostWithinBound(tools: InstructionTools, unit: UnitOfWork, order: OrderRow): void {
  const cost = settlementCost(tools.currencies, order);
  if (cost === 'within') return;
  if (cost === 'unknown') {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'The market has no fresh rate at present; ask again in a moment.',
    });
  }
  const stopped = execute(unit, tools.orderHosts[order.direction], order, 'cost_bound_exceeded', 'system');
  // Once a payment was claimed the table no longer stops the order: the buyer has paid and is paid.
  if (stopped.kind === 'refused') return;
  throw new RecordedRefusal(refusedTransition({ kind: 'refused', code: 'INVALID_STATUS', row: stopped.row }));
}
