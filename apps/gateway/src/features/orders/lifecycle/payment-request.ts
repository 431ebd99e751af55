import { type Actor, CausewayError, SCREENING_CLEAR } from '@causeway/protocol';
import { SYSTEM } from '../../../db/database.ts';
import { execute } from '../../../engine/execute.ts';
import type { IntentHandler, Outcome } from '../../../engine/intent-handler.ts';
import { RecordedRefusal, type UnitDeps, type UnitOfWork } from '../../../engine/unit-of-work.ts';
import { schedule } from '../../../lib/backoff.ts';
import type { Currencies } from '../../../ports/currencies.ts';
import type { ScreeningPort, ScreeningResult } from '../../../ports/name-screening.ts';
import type { DetailsCheck } from '../../payment-details/details-check.ts';
import { loadPaymentDetails, openPaymentDetails } from '../../payment-details/payment-details.ts';
import { openDestination } from '../../recipients/destinations.ts';
import { holderSubjects } from '../../screening/screening-case.ts';
import { lockUserRow } from '../../users/user.ts';
import { lockOrdersAwaitingDeposit } from '../escrow/escrow.store.ts';
import {
  loadOrderForAction,
  moveOrder,
  type OrderCaller,
  readOrder,
  refusedTransition,
} from './act-on-order.ts';
import type { OrderAdapters } from './order.adapter.ts';
import { destinationOfOrder, escrowSignatures, lockOrder, setPayerDetails } from './order.store.ts';
import {
  type OrderRow,
  type OrderSecrets,
  type PlainDetails,
  payerDetailsOf,
  sealPayerDetails,
} from './order.ts';
import { settlementCost } from './postings.ts';

export interface InstructionDeps extends OrderSecrets {
  readonly orderAdapters: OrderAdapters;
  readonly currencies: Currencies;
}

/**
 * Where the vendor pays, or whom it asks for the payment, in clear. A buyer is told only once it could prove a payment
 * and has signed the refund: from then on the partner's deposit can go back without it. Having been told, a buyer pays
 * and nothing takes that back, so the customer's KYC and the cost are looked at here once more.
 */
export async function paymentInstructions(
  secrets: InstructionDeps,
  unit: UnitOfWork,
  order: OrderRow,
): Promise<PlainDetails> {
  if (order.direction === 'onramp') {
    const payer = payerDetailsOf(secrets, order);
    if (payer === null) throw new CausewayError('OPERATION_NOT_ALLOWED');
    return payer;
  }
  const asked = moveOrder(unit, secrets.orderAdapters, order, 'payout_details_requested', 'vendor');
  const { payeeShown } = order.facts;
  // A buyer that was told before may have paid. Another one is told with the answer: a refusal takes it back.
  if (payeeShown !== true) {
    requireCostWithinBound(secrets, unit, { ...asked, facts: { ...asked.facts, payeeShown } });
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

/** An order that became too costly while its buyer hesitated stops here, and the buyer is told so. */
function requireCostWithinBound(deps: InstructionDeps, unit: UnitOfWork, order: OrderRow): void {
  const cost = settlementCost(deps.currencies, order);
  if (cost === 'within') return;
  if (cost === 'unknown') {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'The market has no fresh rate at present; ask again in a moment.',
    });
  }
  const stopped = execute(unit, deps.orderAdapters[order.direction], order, 'cost_bound_exceeded', 'system');
  // Once a payment is claimed the table no longer stops the order: the buyer has paid and is paid.
  if (stopped.kind === 'refused') return;
  const refusal = refusedTransition({ kind: 'refused', code: 'INVALID_STATUS', row: stopped.row }, 'vendor');
  throw new RecordedRefusal(refusal);
}

export interface PayerDeps extends OrderSecrets {
  readonly orderAdapters: OrderAdapters;
  readonly detailsCheck: DetailsCheck;
  readonly screening: ScreeningPort;
}

export interface PayerDetailsInput {
  readonly payment_details_id?: number | undefined;
  readonly payment_details?: Readonly<Record<string, unknown>> | undefined;
}

type PayerScreening = ScreeningResult['status'] | 'unavailable';

/**
 * The vendor's bank reads the payer's name, so details given inline are screened like saved ones. Asked before the
 * transaction: the screening may be a service elsewhere.
 */
export async function screenPayer(
  { screening }: PayerDeps,
  { payment_details: inline = {} }: PayerDetailsInput,
): Promise<readonly PayerScreening[]> {
  const texts = Object.entries(inline).filter(
    (field): field is [string, string] => typeof field[1] === 'string',
  );
  const subjects = holderSubjects(Object.fromEntries(texts), 'individual');
  return Promise.all(
    subjects.map((subject) =>
      screening.screen(subject).then(
        ({ status }) => status,
        () => 'unavailable' as const,
      ),
    ),
  );
}

/** Tells the vendor whom to ask for the money: a saved profile of the customer, or details given here. */
export async function submitPayerDetails(
  deps: PayerDeps,
  unit: UnitOfWork,
  orderId: string,
  input: PayerDetailsInput,
  screenings: readonly PayerScreening[],
  actor: OrderCaller['actor'] = 'partner',
): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  const moved = moveOrder(unit, deps.orderAdapters, order, 'payer_details_submitted', actor);
  const details = await payerDetails(deps, unit, order, input);
  requireClearPayer(screenings);
  unit.tx.defer(setPayerDetails, [orderId, sealPayerDetails(deps.sealer, orderId, details)]);
  return moved;
}

async function payerDetails(
  deps: PayerDeps,
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
  if (savedId === undefined) return fitting(deps, order, inline);
  const user = await lockUserRow(unit, order.user_id);
  const saved = await loadPaymentDetails(unit, order.user_id, `${savedId}`);
  if (saved.rail !== order.payment_network_slug || saved.currency !== order.fiat_currency) {
    const wanted = `${order.payment_network_slug} in ${order.fiat_currency}`;
    throw invalidPayer([{ path: 'payment_details_id', message: `must be payment details of ${wanted}` }]);
  }
  if (saved.screening_status !== SCREENING_CLEAR) throw new CausewayError('RECIPIENT_NOT_CLEARED');
  // Saved while it could not be checked, or before the rail's fields changed: it has to fit now.
  return fitting(deps, order, openPaymentDetails(deps.vaults, user, saved));
}

function requireClearPayer(screenings: readonly PayerScreening[]): void {
  if (screenings.some((status) => status !== SCREENING_CLEAR && status !== 'unavailable')) {
    throw new CausewayError('RECIPIENT_NOT_CLEARED');
  }
  if (screenings.includes('unavailable')) throw new CausewayError('SERVICE_UNAVAILABLE');
}

function fitting({ detailsCheck }: PayerDeps, order: OrderRow, details: unknown): PlainDetails {
  const location = { rail: order.payment_network_slug, institutionId: order.payment_method_slug };
  const fit = detailsCheck.fit(location, details);
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

const RATE_WAIT_MS = 5_000;

/**
 * Before the buyer is asked to pay, a fiat-anchored order is priced once more: where the market has moved so far that
 * the payout would cost more than 1.20 times what was expected, the order stops and the deposit goes back. Vendors
 * read what they are to pay from the order itself, where it is priced a last time.
 */
export function requestPaymentHandler(
  deps: UnitDeps & { readonly orderAdapters: OrderAdapters; readonly currencies: Currencies },
): IntentHandler<'vendor.request-fiat-payment'> {
  const request: IntentHandler<'vendor.request-fiat-payment'>['perform'] = async ({ payload }) => {
    const order = await readOrder(deps.db, SYSTEM, payload.order_id);
    if (order === undefined) return { kind: 'failed', error: 'there is no such order' };
    const cost = settlementCost(deps.currencies, order);
    if (cost === 'unknown') return { kind: 'waiting', afterMs: RATE_WAIT_MS };
    const outcome: Outcome = { kind: 'confirmed', result: { cost } };
    if (cost === 'within') return outcome;
    return {
      ...outcome,
      followUp: async (unit) => {
        const [locked] = await unit.tx.query(lockOrder, [order.order_id]);
        if (locked === undefined) return;
        execute(unit, deps.orderAdapters[locked.direction], locked, 'cost_bound_exceeded', 'system');
      },
    };
  };
  return {
    schedule: schedule([5], { maxAttempts: 100 }),
    perform: request,
  };
}

/** How money on a customer's own account pays an order. The caller holds the lock of customer and currency. */

/** Orders of a customer that wait for exactly this amount on its own account, held ones included. */
export async function ordersAwaitingDeposit(
  unit: UnitOfWork,
  userId: string,
  currency: string,
  amount: bigint,
): Promise<readonly OrderRow[]> {
  return unit.tx.query(lockOrdersAwaitingDeposit, [userId, currency, amount.toString()]);
}

/** The order goes on, and the books move the money from the account that is named to its vendor. */
export function payByDeposit(
  unit: UnitOfWork,
  adapters: OrderAdapters,
  order: OrderRow,
  depositAccount: string,
  actor: Actor,
): OrderRow {
  return moveOrder(unit, adapters, { ...order, deposit_account: depositAccount }, 'deposit_matched', actor);
}

/** Answers whether it was not held before. */
export function holdForDeposit(unit: UnitOfWork, adapters: OrderAdapters, order: OrderRow): boolean {
  return execute(unit, adapters[order.direction], order, 'deposit_held', 'bank').kind === 'moved';
}

/** An operator has decided what kept the order waiting; one that is held for another reason, or not, is left as it is. */
export function releaseDepositHold(unit: UnitOfWork, adapters: OrderAdapters, order: OrderRow): OrderRow {
  return execute(unit, adapters[order.direction], order, 'deposit_hold_released', 'operator').row;
}

export async function releaseIfAwaiting(
  unit: UnitOfWork,
  adapters: OrderAdapters,
  orderId: string,
): Promise<void> {
  const [order] = await unit.tx.query(lockOrder, [orderId]);
  if (order !== undefined) releaseDepositHold(unit, adapters, order);
}
