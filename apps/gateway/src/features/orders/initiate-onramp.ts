import type { CausewayError, OrderSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { PartnerPrincipal } from '../../http/principals.ts';
import { claimQuote } from '../quotes/claim-quote.ts';
import { type Reservation, type ReserveTools, withReservation } from '../quotes/reserve-quote.ts';
import { draftOrder, type InitiateRequest, type OrderOrigin, openerOf } from './draft-order.ts';
import type { OrderHosts } from './order.host.ts';
import { refusedTransition } from './order.refusals.ts';
import type { OrderSecrets } from './order.secrets.ts';
import type { OrderRow } from './order.types.ts';
import { orderView } from './order.view.ts';

export interface InitiateTools extends ReserveTools, OrderSecrets {
  readonly orderHosts: OrderHosts;
}

/** What an initiate takes before its unit begins. */
export function reserving(tools: ReserveTools, direction: OrderRow['direction']) {
  return <T>(
    { body }: { readonly body: InitiateRequest },
    { partnerId }: PartnerPrincipal,
    work: (reservation: Reservation) => Promise<T>,
  ): Promise<T> => withReservation(tools, { partnerId, quoteId: body.quote_id, direction }, work);
}

/** Turns an active quote into an order, or leaves the quote as it was. */
export async function initiateOnramp(
  tools: InitiateTools,
  unit: UnitOfWork,
  reservation: Reservation,
  input: InitiateRequest,
  origin: OrderOrigin = 'api',
): Promise<Static<typeof OrderSchema>> {
  const quote = await claimQuote(unit, reservation, input.quote_id, 'onramp');
  // Where the payee asks the payer for the money, the vendor must be told whom to ask.
  const rail = tools.currencies.current().reference.catalogue.rail(quote.payment_network_slug);
  // Money that comes from the customer's own account nobody has to ask for.
  const fundingSource = quote.has_own_account ? 'own_iban' : 'vendor_details';
  const paymentRequest = rail?.paymentRequest === true && !quote.has_own_account;
  const draft = draftOrder(unit, quote, paymentRequest ? 'payment_request' : 'onramp', input.reference_id, {
    paymentRequest,
    fundingSource,
    origin,
  });
  const execution = execute(unit, tools.orderHosts.onramp, draft, 'order_initiated', openerOf(origin));
  if (execution.kind === 'refused') throw refusedTransition(execution) satisfies CausewayError;
  reservation.keep();
  // The contract shows an empty timeline here; the entries are read with the order.
  return { ...orderView(tools, execution.row), timeline: [] };
}
