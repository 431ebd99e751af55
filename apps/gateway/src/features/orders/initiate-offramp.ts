import type { OrderSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { claimQuote } from '../quotes/claim-quote.ts';
import type { Reservation } from '../quotes/reserve-quote.ts';
import { draftOrder, type InitiateRequest, type OrderOrigin, openerOf } from './draft-order.ts';
import type { InitiateTools } from './initiate-onramp.ts';
import { refusedTransition } from './order.refusals.ts';
import { insertComplianceCase } from './order.store.ts';
import type { OrderRow } from './order.types.ts';
import { orderView } from './order.view.ts';
import { requireSenderIdentity } from './sender-identity.ts';

/**
 * Turns an active quote into an order that waits for the partner's deposit, or leaves the quote as it was: whatever is
 * refused here is refused inside the transaction that claims it. Where no vendor can serve it, the order waits for
 * one.
 */
export async function initiateOfframp(
  tools: InitiateTools,
  unit: UnitOfWork,
  reservation: Reservation,
  input: InitiateRequest,
  origin: OrderOrigin = 'api',
): Promise<Static<typeof OrderSchema>> {
  const quote = await claimQuote(unit, reservation, input.quote_id, 'offramp');
  await requireSenderIdentity(tools, unit, quote);
  const draft = draftOrder(unit, quote, 'offramp', input.reference_id, {
    vendorAvailable: quote.served,
    origin,
  });
  const execution = execute(unit, tools.orderHosts.offramp, draft, 'order_initiated', openerOf(origin));
  if (execution.kind === 'refused') throw refusedTransition(execution);
  const order = execution.row;
  openComplianceCase(unit, order, quote.sender_recipient_relationship, quote.purpose_of_payment);
  reservation.keep();
  return { ...orderView(tools, order), timeline: [] };
}

function openComplianceCase(
  unit: UnitOfWork,
  order: OrderRow,
  relationship: string | null,
  purpose: string | null,
): void {
  if (order.recipient_id === null) return;
  unit.tx.defer(insertComplianceCase, [
    unit.ids.uuid(),
    order.partner_id,
    order.order_id,
    order.user_id,
    order.recipient_id,
    relationship,
    purpose,
    unit.at,
  ]);
}
