import { CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { DetailsCheck } from '../payment-details/details-check.port.ts';
import { loadPaymentDetails, openPaymentDetails } from '../payment-details/load-payment-details.ts';
import type { ScreeningPort } from '../recipients/screening/screening.port.ts';
import { holderSubjects } from '../screening/screening-case.ts';
import { lockUserRow } from '../users/load-user.ts';
import { loadOrderForAction, moveOrder } from './act-on-order.ts';
import type { OrderHosts } from './order.host.ts';
import { type OrderSecrets, type PlainDetails, sealPayerDetails } from './order.secrets.ts';
import { setPayerDetails } from './order.store.ts';
import type { OrderRow } from './order.types.ts';

export interface PayerTools extends OrderSecrets {
  readonly orderHosts: OrderHosts;
  readonly detailsCheck: DetailsCheck;
  readonly screening: ScreeningPort;
}

export interface PayerDetailsInput {
  readonly payment_details_id?: number | undefined;
  readonly payment_details?: Readonly<Record<string, unknown>> | undefined;
}

/** Tells the vendor whom to ask for the money: a saved profile of the customer, or details given here. */
export async function submitPayerDetails(
  tools: PayerTools,
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
  tools: PayerTools,
  unit: UnitOfWork,
  order: OrderRow,
  { payment_details_id: savedId, payment_details: inline }: PayerDetailsInput,
): Promise<PlainDetails> {
  if ((savedId === undefined) === (inline === undefined)) {
    throw invalidPayer(
      ['payment_details_id', 'payment_details'].map((path) => ({
        path,
        message: 'give exactly one of them',
      })),
    );
  }
  if (savedId === undefined) return screened(tools, fitting(tools, order, inline));
  const user = await lockUserRow(unit, order.user_id);
  const saved = await loadPaymentDetails(unit, order.user_id, `${savedId}`);
  if (saved.rail !== order.payment_network_slug || saved.currency !== order.fiat_currency) {
    const wanted = `${order.payment_network_slug} in ${order.fiat_currency}`;
    throw invalidPayer([{ path: 'payment_details_id', message: `must be payment details of ${wanted}` }]);
  }
  if (saved.screening_status !== 'clear') throw new CausewayError('RECIPIENT_NOT_CLEARED');
  // Saved while nobody could check it, or before the rail's fields changed: it has to fit now.
  return fitting(tools, order, openPaymentDetails(tools.vaults, user, saved));
}

/** The vendor's bank reads the payer's name. A screening that is not in memory has judged saved details only. */
function screened({ screening }: PayerTools, details: PlainDetails): PlainDetails {
  const results = holderSubjects(details, 'individual').map((one) => screening.screenAtOnce?.(one).status);
  if (results.some((status) => status === 'review' || status === 'blocked')) {
    throw new CausewayError('RECIPIENT_NOT_CLEARED');
  }
  return details;
}

function fitting({ detailsCheck }: PayerTools, order: OrderRow, details: unknown): PlainDetails {
  const place = { rail: order.payment_network_slug, institutionId: order.payment_method_slug };
  const fit = detailsCheck.fit(place, details);
  if (fit.ok) return fit.details;
  throw invalidPayer(fit.problems.map(({ path, message }) => ({ path: `payment_${path}`, message })));
}

function invalidPayer(fields: { path: string; message: string }[]): CausewayError {
  const told = fields.map(({ path, message }) => `${path} ${message}`).join('; ');
  return new CausewayError('INVALID_PAYER_DETAILS', {
    message: `The payer details are not valid: ${told}.`,
    details: { fields },
  });
}
