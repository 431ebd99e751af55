import { CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { loadPaymentDetails, openPaymentDetails } from '../payment-details/load-payment-details.ts';
import { lockUserRow } from '../users/load-user.ts';
import { loadOrderForAction, moveOrder } from './act-on-order.ts';
import type { OrderHosts } from './order.host.ts';
import { type OrderSecrets, type PlainDetails, sealPayerDetails } from './order.secrets.ts';
import { setPayerDetails } from './order.store.ts';
import type { OrderRow } from './order.types.ts';

export interface PayerDetailsInput {
  readonly payment_details_id?: number | undefined;
  readonly payment_details?: Readonly<Record<string, unknown>> | undefined;
}

const MOST_FIELDS = 30;
const LONGEST_VALUE = 500;

/** Tells the vendor whom to ask for the money: a saved profile of the customer, or details given here. */
export async function submitPayerDetails(
  tools: OrderSecrets & { readonly orderHosts: OrderHosts },
  unit: UnitOfWork,
  orderId: string,
  input: PayerDetailsInput,
): Promise<void> {
  const order = await loadOrderForAction(unit, orderId);
  moveOrder(unit, tools.orderHosts, order, 'payer_details_submitted', 'partner');
  const details = await payerDetails(tools, unit, order, input);
  unit.tx.defer(setPayerDetails, [orderId, sealPayerDetails(tools.sealer, orderId, details)]);
}

async function payerDetails(
  tools: OrderSecrets,
  unit: UnitOfWork,
  order: OrderRow,
  { payment_details_id: savedId, payment_details: inline }: PayerDetailsInput,
): Promise<PlainDetails> {
  if ((savedId === undefined) === (inline === undefined)) {
    throw new CausewayError('INVALID_PAYER_DETAILS', {
      message: 'Give exactly one of payment_details_id and payment_details.',
    });
  }
  if (inline !== undefined) return plainDetails(inline);
  const user = await lockUserRow(unit, order.user_id);
  return openPaymentDetails(tools.vaults, user, await loadPaymentDetails(unit, order.user_id, `${savedId}`));
}

function plainDetails(given: Readonly<Record<string, unknown>>): PlainDetails {
  const entries = Object.entries(given);
  const isPlain = (value: unknown): value is string =>
    typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_VALUE;
  if (entries.length === 0 || entries.length > MOST_FIELDS || !entries.every(([, value]) => isPlain(value))) {
    throw new CausewayError('INVALID_PAYER_DETAILS', {
      message: 'payment_details must have fields, each a text that is not blank.',
    });
  }
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
}
