import { defineMachine } from './decide.ts';
import type { StatusSpec } from './machine.types.ts';
import { NEW } from './machine.types.ts';
import type { OnrampStatus } from './onramp-status.ts';
import { ONRAMP_STATUSES } from './onramp-status.ts';
import { ONRAMP_STOPS } from './onramp-stops.ts';
import { disputesDecidedForBuyer, releaseSignedAgain } from './order-disputes.ts';
import {
  type HoldRule,
  ORDER_GUARDS,
  type OrderFacts,
  type OrderGuard,
  type OrderMachine,
  type OrderRule,
} from './order-facts.ts';
import {
  depositHolds,
  holdPlacements,
  holdReleasesThatResume,
  kycWaivers,
  plainHoldReleases,
  screeningHolds,
} from './order-holds.ts';
import { settledElsewhere } from './order-settled-elsewhere.ts';
import type { OrderTrigger } from './order-vocabulary.ts';

const statuses: Record<OnrampStatus, StatusSpec<OrderTrigger, OrderGuard>> = {
  awaiting_liquidity_provider: {
    says: 'Offered to vendors; none has accepted yet.',
    published: true,
    terminal: false,
    timeout: { setting: 'no_vendor_seconds', defaultSeconds: 900, trigger: 'order_expired' },
  },
  awaiting_vendor_escrow_funding: {
    says: 'A vendor has accepted and owes its crypto to the escrow.',
    published: true,
    terminal: false,
    vendorOwes: true,
    timeout: { setting: 'no_escrow_funding_seconds', defaultSeconds: 1800, trigger: 'order_expired' },
  },
  awaiting_fiat_transfer: {
    says: 'Crypto is locked in escrow; the end user sends fiat.',
    published: true,
    terminal: false,
    revealsPaymentDetails: true,
    next: [
      { step: 'deposit_to_user_account', when: ['created_by_api', 'pays_own_iban', 'not_held'] },
      { step: 'submit_payer_details', action: 'submit-payer-details', when: ['payer_unknown'] },
      { step: 'confirm_payment_sent', action: 'confirm-payment-sent' },
    ],
    timeout: { setting: 'no_fiat_seconds', defaultSeconds: 3600, trigger: 'order_expired' },
  },
  fiat_transfer_pending: {
    says: 'Fiat is on its way; the vendor confirms its arrival.',
    published: true,
    terminal: false,
  },
  fiat_received_confirmed: {
    says: 'The vendor has the fiat; the release waits only where a review holds it.',
    published: false,
    additive: true,
    terminal: false,
  },
  crypto_release_pending: {
    says: 'The escrow is paying the partner master wallet, or the wallet of the customer that opened the order.',
    published: false,
    additive: true,
    terminal: false,
  },
  completed: {
    says: 'The crypto is in the partner master wallet, from where a send-out is possible, or in the wallet of the customer that opened the order.',
    published: true,
    terminal: true,
    outcome: 'settled',
  },
  send_out_pending: {
    says: 'The crypto is being sent to another network.',
    published: true,
    terminal: false,
    outcome: 'settled',
  },
  send_out_completed: {
    says: 'The crypto has arrived on the other network.',
    published: true,
    terminal: true,
    outcome: 'settled',
  },
  send_out_failed: {
    says: 'The send-out failed; it can be authorized again once the first can no longer execute.',
    published: true,
    terminal: true,
    outcome: 'settled',
  },
  cancelled: {
    says: 'Stopped; vendor crypto goes back to the vendor.',
    published: true,
    terminal: true,
    outcome: 'stopped',
  },
  failed: {
    says: 'Stopped by an escrow or relay error that retries cannot cure.',
    published: true,
    terminal: true,
    outcome: 'stopped',
  },
  dispute_started: {
    says: 'In dispute; the operator decides who is paid.',
    published: true,
    terminal: true,
    outcome: 'disputed',
    next: [{ step: 'authorize_release', action: 'authorize-release' }],
  },
};

const CHANGED = ['order.status.changed'] as const;

const path: readonly OrderRule<OnrampStatus>[] = [
  {
    from: NEW,
    on: 'order_initiated',
    by: ['partner', 'customer'],
    guard: ['kyc_cleared', 'wallets_cleared'],
    // Its vendor is known before it is written, and reads what it is offered from the order itself.
    to: 'awaiting_liquidity_provider',
    emits: CHANGED,
    spec: 'C3.1 row 1',
  },
  {
    from: 'awaiting_liquidity_provider',
    on: 'vendor_accepted',
    by: ['vendor'],
    guard: ['wallets_cleared'],
    to: 'awaiting_vendor_escrow_funding',
    emits: CHANGED,
    effects: ['escrow.deploy-and-watch'],
    spec: 'C3.1 row 2',
  },
  {
    from: 'awaiting_liquidity_provider',
    on: 'vendor_declined',
    by: ['vendor', 'clock'],
    to: 'awaiting_liquidity_provider',
    emits: [],
    effects: ['vendor.offer-order'],
    spec: 'D12: the order is offered to the next vendor',
  },
  {
    from: 'awaiting_vendor_escrow_funding',
    on: 'escrow_funded',
    by: ['chain'],
    guard: ['kyc_cleared'],
    to: 'awaiting_fiat_transfer',
    emits: CHANGED,
    posts: 'vendor_escrow_funded',
    sets: { escrow: 'funded' },
    spec: 'C3.1 row 3, D6: final after the configured confirmations',
  },
  {
    from: 'awaiting_vendor_escrow_funding',
    on: 'escrow_funded',
    by: ['chain'],
    guard: ['kyc_lost'],
    to: 'awaiting_fiat_transfer',
    emits: CHANGED,
    posts: 'vendor_escrow_funded',
    hold: 'KYC_REVIEW',
    sets: { escrow: 'funded', held: true },
    spec: 'C4.5 initiate: KYC is applied again before the customer learns where to pay',
  },
  {
    from: 'awaiting_fiat_transfer',
    on: 'payer_details_submitted',
    by: ['partner', 'customer'],
    guard: ['payment_request'],
    to: 'awaiting_fiat_transfer',
    emits: [],
    action: 'submit-payer-details',
    sets: { payerDetailsSubmitted: true },
    spec: 'C4.5 submit-payer-details; may be repeated until payment is confirmed',
  },
  {
    from: 'awaiting_fiat_transfer',
    on: 'payment_sent_confirmed',
    by: ['partner', 'customer'],
    guard: ['payer_known'],
    to: 'fiat_transfer_pending',
    emits: CHANGED,
    action: 'confirm-payment-sent',
    spec: 'C3.1 row 4, C4.5 rules 5 and 6',
  },
  {
    from: 'awaiting_fiat_transfer',
    on: 'deposit_matched',
    by: ['bank', 'operator'],
    guard: ['pays_own_iban', 'not_held', 'kyc_cleared'],
    to: 'fiat_transfer_pending',
    emits: CHANGED,
    effects: ['bank.pay-vendor'],
    posts: 'customer_deposit_applied',
    sets: { vendorPayment: 'sending' },
    spec: 'C3.1 row 5; equal amounts are held and matched by the operator after the hold is released',
  },
  {
    from: 'fiat_transfer_pending',
    on: 'fiat_confirmed_by_vendor',
    by: ['vendor'],
    to: 'fiat_received_confirmed',
    emits: [],
    sets: { releaseSigned: true },
    follow: 'release_started',
    spec: 'C3.1 row 6; recorded even while held, because the vendor says it once',
  },
  {
    from: 'fiat_received_confirmed',
    on: 'release_started',
    by: ['system'],
    guard: ['not_held', 'kyc_still_cleared', 'payout_wallets_still_cleared', 'escrow_funded'],
    to: 'crypto_release_pending',
    emits: [],
    effects: ['escrow.release'],
    sets: { escrow: 'releasing' },
    spec: 'C4.5 initiate: KYC is applied again before the payout',
  },
  {
    from: 'crypto_release_pending',
    on: 'release_confirmed',
    by: ['chain'],
    to: 'completed',
    emits: CHANGED,
    posts: 'escrow_released',
    sets: { escrow: 'emptied' },
    spec: 'C3.1 row 6: completed means that the crypto is in the partner master wallet',
  },
  {
    from: 'crypto_release_pending',
    on: 'release_failed',
    by: ['chain', 'system'],
    to: 'fiat_received_confirmed',
    emits: [],
    hold: 'SETTLEMENT_REVIEW',
    sets: { escrow: 'funded', held: true, releaseSigned: false },
    spec: 'Silent: the buyer has paid, so the order is neither failed nor returned; released again after review',
  },
];

const sendOut: readonly OrderRule<OnrampStatus>[] = [
  {
    from: ['completed', 'send_out_failed'],
    on: 'bridge_authorized',
    by: ['partner'],
    guard: ['not_held', 'payout_wallets_still_cleared'],
    to: 'send_out_pending',
    emits: CHANGED,
    effects: ['bridge.relay'],
    action: 'authorize-bridge',
    sets: { sendOut: 'in_progress' },
    spec: 'C3.1 row 7; from send_out_failed only when the first request can no longer execute. A customer’s crypto is in its own wallet',
  },
  {
    from: 'send_out_pending',
    on: 'bridge_settled',
    by: ['provider', 'chain'],
    to: 'send_out_completed',
    emits: CHANGED,
    posts: 'send_out_settled',
    sets: { sendOut: 'completed' },
    spec: 'C3.1 row 8',
  },
  {
    from: 'send_out_pending',
    on: 'bridge_failed',
    by: ['provider', 'chain', 'clock'],
    to: 'send_out_failed',
    emits: CHANGED,
    sets: { sendOut: 'failed_unspent' },
    spec: 'C3.1 row 8; counted as executable until the chain says otherwise',
  },
  {
    from: 'send_out_pending',
    on: 'bridge_failed',
    by: ['operator'],
    guard: ['held'],
    to: 'send_out_failed',
    emits: CHANGED,
    sets: { sendOut: 'failed_unspent' },
    spec: 'Silent: a bridge that was paid and never answers; the operator knows from elsewhere that it will not pay',
  },
  {
    from: ['send_out_pending', 'send_out_failed'],
    on: 'bridge_settled',
    by: ['operator'],
    guard: ['held'],
    to: 'send_out_completed',
    emits: CHANGED,
    posts: 'send_out_settled',
    sets: { sendOut: 'completed' },
    spec: 'Silent: a bridge that paid and never said so; shown by the payout on the other chain, even after a failure',
  },
  {
    from: 'send_out_failed',
    on: 'bridge_authorization_lapsed',
    by: ['chain', 'clock'],
    guard: ['send_out_can_execute'],
    to: 'send_out_failed',
    emits: [],
    sets: { sendOut: 'failed_spent' },
    spec: 'D7: the old nonce is spent or its deadline has passed for good',
  },
  {
    from: 'send_out_failed',
    on: 'bridge_settled',
    by: ['provider', 'chain'],
    guard: ['send_out_can_execute'],
    to: 'send_out_completed',
    emits: CHANGED,
    posts: 'send_out_settled',
    sets: { sendOut: 'completed' },
    spec: 'Silent: anyone may execute a signed request before its deadline; the truth on chain wins',
  },
];

/** Statuses of an order whose customer's deposit was matched and that has not stopped. */
const PAID_BY_DEPOSIT = [
  'fiat_transfer_pending',
  'fiat_received_confirmed',
  'crypto_release_pending',
  'completed',
  'send_out_pending',
  'send_out_completed',
  'send_out_failed',
  'dispute_started',
] as const satisfies readonly OnrampStatus[];

const vendorPayment: readonly OrderRule<OnrampStatus>[] = [
  ...PAID_BY_DEPOSIT.map((status) => vendorPaymentRow(status, 'vendor_payment_started', 'sending')),
  ...[...PAID_BY_DEPOSIT, 'failed' as const].flatMap((status) => [
    vendorPaymentRow(status, 'vendor_payment_sent', 'sent'),
    vendorPaymentRow(status, 'vendor_payment_refused', 'refused'),
  ]),
];

function vendorPaymentRow(
  status: (typeof PAID_BY_DEPOSIT)[number] | 'failed',
  on: 'vendor_payment_started' | 'vendor_payment_sent' | 'vendor_payment_refused',
  vendorPayment: OrderFacts['vendorPayment'],
): OrderRule<OnrampStatus> {
  const starts = on === 'vendor_payment_started';
  return {
    from: status,
    on,
    by: [starts ? 'system' : 'bank'],
    guard: starts ? ['pays_own_iban', 'not_held', 'vendor_not_being_paid'] : ['pays_own_iban'],
    to: status,
    emits: [],
    sets: { vendorPayment },
    spec: 'Silent: while the bank may be paying the vendor, its crypto does not go back as well',
  } as OrderRule<OnrampStatus>;
}

const disputes: readonly OrderRule<OnrampStatus>[] = disputesDecidedForBuyer({
  decided: 'D12: the operator decides for the partner’s customer',
  asks: ['order.release.required'],
  signers: ['partner', 'customer', 'vendor', 'operator'],
  action: 'authorize-release',
});

const holds: readonly (OrderRule<OnrampStatus> | HoldRule<OnrampStatus>)[] = [
  ...depositHolds(),
  ...holdPlacements(ONRAMP_STATUSES.filter((status) => status !== 'send_out_completed')),
  ...screeningHolds(ONRAMP_STATUSES.filter((status) => status !== 'send_out_completed')),
  ...plainHoldReleases([
    'awaiting_liquidity_provider',
    'awaiting_vendor_escrow_funding',
    'awaiting_fiat_transfer',
    'fiat_transfer_pending',
    'crypto_release_pending',
    'completed',
    'send_out_pending',
    'send_out_completed',
    'send_out_failed',
    'dispute_started',
  ]),
  ...holdReleasesThatResume('fiat_received_confirmed', 'release_started'),
  ...kycWaivers(),
];

export const onrampMachine: OrderMachine<OnrampStatus> = defineMachine<
  OnrampStatus,
  OrderTrigger,
  OrderFacts,
  OrderGuard
>({
  name: 'onramp',
  title: 'On-ramp order',
  statuses,
  guards: ORDER_GUARDS,
  transitions: [
    ...path,
    ...releaseSignedAgain(),
    ...vendorPayment,
    ...sendOut,
    ...disputes,
    ...ONRAMP_STOPS,
    ...settledElsewhere(),
    ...holds,
  ],
  before: {
    actor: { partner: ['created_by_api'], customer: ['created_by_widget'] },
    trigger: {
      bridge_authorized: ['no_send_out_under_way'],
      payment_sent_confirmed: ['pays_vendor'],
      refund_authorized: ['not_held'],
    },
  },
});
