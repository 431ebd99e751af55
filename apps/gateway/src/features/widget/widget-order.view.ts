import {
  CUSTOMER_ACTIONS,
  customerPhase,
  expectedSeconds,
  FIAT_ACCOUNT_ACTIVE,
  formatFixed,
  ORDER_MACHINES,
  orderActionsOf,
  type PricedSchema,
  type WidgetOrderSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Reading } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Currencies } from '../../ports/currencies.ts';
import type { Direction } from '../../ports/offers.ts';
import { accountDetailsOf, accountsOf } from '../fiat-accounts/fiat-account.ts';
import { depositOf, receiptOf } from '../orders/escrow/escrow.ts';
import { orderState } from '../orders/lifecycle/act-on-order.ts';
import { type OrderRow, type OrderSecrets, reasonsView, vendorDetailsOf } from '../orders/lifecycle/order.ts';
import { isToldWhereToPay } from '../orders/lifecycle/order.view.ts';
import type { DetailsCheck } from '../payment-details/details-check.ts';
import { loadPaymentDetails, openPaymentDetails } from '../payment-details/payment-details.ts';
import { feeBreakdown } from '../quotes/quote.view.ts';
import { readUserBy, vaultOfUser } from '../users/user.ts';

export interface WidgetOrderViewDeps extends OrderSecrets {
  readonly currencies: Currencies;
  readonly detailsCheck: DetailsCheck;
  readonly clock: Pick<Clock, 'date'>;
}

type WidgetOrderView = Static<typeof WidgetOrderSchema>;
type Figures = Pick<WidgetOrderView, 'pay_amount' | 'pay_currency' | 'receive_amount' | 'receive_currency'>;

/** An order as the customer that opened it sees it. */
export async function widgetOrderView(
  deps: WidgetOrderViewDeps,
  reads: Reading,
  order: OrderRow,
): Promise<WidgetOrderView> {
  const state = orderState(order);
  const allowed = orderActionsOf('customer', state);
  const [instructions, account] = await Promise.all([
    paymentInstructions(deps, reads, order),
    payoutAccount(deps, reads, order),
  ]);
  const isRefunded =
    order.direction === 'offramp' &&
    ORDER_MACHINES.offramp.statuses[order.status]?.outcome === 'stopped' &&
    order.facts.escrow === 'emptied';
  return {
    order_id: order.order_id,
    side: order.direction,
    order_type: order.order_type,
    status: order.status,
    phase: customerPhase(state),
    expected_seconds: expectedSeconds(state),
    reference_id: order.reference_id,
    payment_request: order.facts.paymentRequest,
    ...(order.direction === 'onramp' ? { fiat_funding_source: order.facts.fundingSource } : {}),
    ...figuresOfOrder(order),
    amounts: {
      crypto_amount: crypto(order, BigInt(order.crypto_amount)),
      fiat_amount: formatFixed(BigInt(order.fiat_amount), order.fiat_decimals),
      crypto_currency: order.crypto_currency,
      fiat_currency: order.fiat_currency,
      rate: order.rate,
    },
    rate: order.rate,
    fee_breakdown: feeBreakdown(
      BigInt(order.platform_fee),
      order.platform_fee_pct,
      BigInt(order.partner_fee),
      order.partner_fee_pct,
      order.crypto_decimals,
    ),
    payment_method_slug: order.payment_method_slug,
    payment_network_slug: order.payment_network_slug,
    wallet_address: walletOf(order),
    chain: order.chain,
    escrow_address: order.escrow?.address ?? null,
    allowed_actions: CUSTOMER_ACTIONS.filter((action) => allowed.includes(action)),
    payment_instructions: instructions,
    payout_account: account,
    timeline: order.timeline.map(({ status, at }) => ({ status, at })),
    ...reasonsView(order),
    tx_hash: order.tx_hash,
    refund_tx_hash: isRefunded ? order.tx_hash : null,
    server_time: deps.clock.date().toISOString(),
    created_at: order.created_at.toISOString(),
    updated_at: order.updated_at.toISOString(),
  };
}

/** Of an order from before customers had wallets here, the owner on the partner's side of its escrow. */
function walletOf({ customer_wallet: wallet, escrow, direction }: OrderRow): string {
  return wallet ?? escrow?.[direction === 'onramp' ? 'buyer' : 'seller'] ?? '';
}

function crypto({ crypto_decimals: decimals }: OrderRow, amount: bigint): string {
  return formatFixed(amount, decimals);
}

function figuresOfOrder(order: OrderRow): Figures {
  const fiat = formatFixed(BigInt(order.fiat_amount), order.fiat_decimals);
  const { fiat_currency, crypto_currency } = order;
  return order.direction === 'onramp'
    ? figures(fiat, fiat_currency, crypto(order, receiptOf(order)), crypto_currency)
    : figures(crypto(order, quotedDeposit(order)), crypto_currency, fiat, fiat_currency);
}

/** What the customer was told to pay, also where an operator has accepted less. */
function quotedDeposit(order: OrderRow): bigint {
  return depositOf({ ...order, deposit_shortfall: '0' });
}

function figures(pay: string, payIn: string, receive: string, receiveIn: string): Figures {
  return { pay_amount: pay, pay_currency: payIn, receive_amount: receive, receive_currency: receiveIn };
}

/** The same of an estimate or a quote, whose amounts of one currency are all written with its decimals. */
export function customerFigures(
  direction: Direction,
  { crypto_amount, fiat_amount, fee_breakdown: fees }: Static<typeof PricedSchema>,
  currencies: { readonly crypto_currency: string; readonly fiat_currency: string },
): Figures {
  const decimals = crypto_amount.split('.')[1]?.length ?? 0;
  const atomic = (text: string) => BigInt(text.replace('.', ''));
  const [coin, fiat] = [currencies.crypto_currency.toUpperCase(), currencies.fiat_currency.toUpperCase()];
  const [amount, platformFee, partnerFee] = [crypto_amount, fees.platform_fee, fees.partner_fee].map(
    atomic,
  ) as [bigint, bigint, bigint];
  return direction === 'onramp'
    ? figures(fiat_amount, fiat, formatFixed(amount - platformFee - partnerFee, decimals), coin)
    : figures(formatFixed(amount + partnerFee, decimals), coin, fiat_amount, fiat);
}

type Instructions = NonNullable<WidgetOrderView['payment_instructions']>;

/** Where the customer pays: the vendor's account, or the customer's own at its partner. */
async function paymentInstructions(
  deps: WidgetOrderViewDeps,
  reads: Reading,
  order: OrderRow,
): Promise<Instructions | null> {
  if (!isToldWhereToPay(order)) return null;
  if (order.facts.fundingSource === 'own_iban') return ownAccount(deps, reads, order);
  const details = vendorDetailsOf(deps, order);
  return details && labelled(deps.currencies, order.payment_network_slug, details);
}

async function ownAccount(
  { vaults }: WidgetOrderViewDeps,
  reads: Reading,
  order: OrderRow,
): Promise<Instructions | null> {
  const accounts = await accountsOf(reads, order.user_id);
  const account = accounts.find(
    ({ currency, status }) => currency === order.fiat_currency && status === FIAT_ACCOUNT_ACTIVE,
  );
  if (account === undefined) return null;
  const details = accountDetailsOf(vaultOfUser(vaults, await readUserBy(reads, order.user_id)), account);
  if (details === null) return null;
  return [
    { field: 'full_name', label: 'Account holder', value: details.account_holder_name },
    { field: 'iban', label: 'IBAN', value: details.iban },
    ...(account.bic === null ? [] : [{ field: 'bic', label: 'BIC', value: account.bic }]),
    ...(account.bank_name === null ? [] : [{ field: 'bank_name', label: 'Bank', value: account.bank_name }]),
  ];
}

/** In the rail's own order and words; what a vendor says besides, a reference say, comes last. */
function labelled(
  currencies: Currencies,
  railSlug: string,
  details: Readonly<Record<string, string>>,
): Instructions {
  const rail = currencies.current().reference.catalogue.rail(railSlug);
  const fields = [...(rail?.fields ?? []), ...(rail?.formats ?? []).flatMap((format) => format.fields)];
  const labels = new Map<string, string>();
  for (const { key, label } of fields) if (!labels.has(key)) labels.set(key, label);
  const known = [...labels.keys()].filter((key) => details[key] !== undefined);
  const others = Object.keys(details).filter((key) => !labels.has(key));
  return [...known, ...others].map((field) => ({
    field,
    label: labels.get(field) ?? inWords(field),
    value: details[field] ?? '',
  }));
}

function inWords(key: string): string {
  const words = key.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Names of people and banks are told apart from the number that says which account it is. */
const NAMES = /name|holder|beneficiary|bank|branch/;

async function payoutAccount(
  deps: WidgetOrderViewDeps,
  reads: Reading,
  order: OrderRow,
): Promise<string | null> {
  if (order.direction === 'onramp' || order.payment_details_id === null) return null;
  const row = await loadPaymentDetails({ tx: reads }, order.user_id, order.payment_details_id);
  const details = openPaymentDetails(deps.vaults, await readUserBy(reads, order.user_id), row);
  const masked = deps.detailsCheck.mask(row.rail, details);
  const number = Object.entries(masked).find(([key, value]) => !NAMES.test(key) && value.includes('*'));
  const { catalogue } = deps.currencies.current().reference;
  const institution = row.institution_id === null ? undefined : catalogue.institution(row.institution_id);
  const name = institution?.name ?? catalogue.rail(row.rail)?.name ?? row.rail;
  return number === undefined ? name : `${name} ${number[1]}`;
}
