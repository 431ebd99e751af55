import type { EventData, EventType } from '@causeway/sdk';
import {
  accountIssued,
  collectionOn,
  depositMade,
  testEventReceived,
  testEventSent,
} from './account-steps.ts';
import {
  AMOUNT,
  bridgeFails,
  bridgeSettles,
  cancel,
  disputeDecidedForYou,
  disputeOpened,
  escrowFails,
  escrowFunded,
  fiatReceived,
  kycBecomes,
  newCustomer,
  openOfframp,
  openOnramp,
  paymentSent,
  proofAccepted,
  proofReviewed,
  proofSubmitted,
  sendOut,
  signDeposit,
  vendorAccepts,
  vendorConfirms,
} from './order-steps.ts';
import type { Step } from './trigger-run.ts';

export type Direction = 'onramp' | 'offramp';

/** Steps to an event; of an order where it has a direction. */
export interface Way {
  readonly direction?: Direction;
  readonly steps: readonly Step[];
}

/** How an event is brought about, for each status that it can tell of. */
export interface Plan<Status extends string = string> {
  readonly summary: string;
  /** Which it tells of unless another is asked for. */
  readonly usual: Status;
  /** The first way is taken unless a direction is asked for. A text says why no such event is ever sent. */
  readonly ways: Readonly<Record<Status, readonly [Way, ...Way[]] | string>>;
}

/** The status of events that tell of none. */
export const NO_STATUS = 'none';

/** The statuses that the API describes, without the room that its types leave for later ones. */
type Described<Word> = Word extends string ? (string extends Word ? never : Word) : never;
type StatusOf<Data> = Data extends { readonly status: infer Word }
  ? Described<Word>
  : Data extends { readonly kyc_status: infer Word }
    ? Described<Word>
    : typeof NO_STATUS;

const verifiedCustomer = [newCustomer, kycBecomes('VERIFIED')] as const;
const buys = (amount: string, ...steps: readonly Step[]): Way => ({
  direction: 'onramp',
  steps: [...verifiedCustomer, openOnramp(amount), ...steps],
});
const sells = (...steps: readonly Step[]): Way => ({
  direction: 'offramp',
  steps: [...verifiedCustomer, openOfframp(AMOUNT.vendorNeverPays), ...steps],
});

const funded = [vendorAccepts, escrowFunded] as const;
const paid = [...funded, paymentSent] as const;
const settled = [...paid, vendorConfirms] as const;
const buysAndPays = (...steps: readonly Step[]) => buys(AMOUNT.vendorNeverConfirms, ...paid, ...steps);
const buysAndGets = (...steps: readonly Step[]) => buys(AMOUNT.vendorNeverConfirms, ...settled, ...steps);
const proven = [signDeposit, proofSubmitted, proofReviewed, proofAccepted] as const;

const onrampDispute = disputeOpened(['fiat_transfer_pending']);
const offrampDispute = disputeOpened([
  'fiat_payment_started',
  'fiat_payment_review_started',
  'awaiting_fiat_received_confirmation',
]);
const UNFUNDED_OFFRAMP = ['awaiting_crypto_transfer_authorization', 'crypto_received'] as const;

const ORDER_STATUSES: Plan<StatusOf<EventData['order.status.changed']>>['ways'] = {
  created: 'An order leaves this status within the call that opens it: no event tells of it.',
  awaiting_liquidity_provider: [buys(AMOUNT.vendorNeverAccepts)],
  awaiting_vendor_escrow_funding: [buys(AMOUNT.vendorNeverFunds, vendorAccepts)],
  awaiting_fiat_transfer: [buys(AMOUNT.vendorNeverConfirms, ...funded)],
  fiat_transfer_pending: [buysAndPays()],
  completed: [buysAndGets(), sells(...proven, fiatReceived)],
  send_out_pending: [buysAndGets(sendOut)],
  send_out_completed: [buysAndGets(sendOut, bridgeSettles)],
  send_out_failed: [buysAndGets(sendOut, bridgeFails)],
  awaiting_crypto_transfer_authorization: [sells()],
  crypto_received: [sells(signDeposit)],
  fiat_payment_started: [sells(signDeposit, proofSubmitted)],
  fiat_payment_review_started: [sells(signDeposit, proofSubmitted, proofReviewed)],
  awaiting_fiat_received_confirmation: [sells(...proven)],
  cancelled: [
    buys(
      AMOUNT.vendorNeverAccepts,
      cancel(['awaiting_liquidity_provider', 'awaiting_vendor_escrow_funding', 'awaiting_fiat_transfer']),
    ),
    sells(cancel(UNFUNDED_OFFRAMP)),
  ],
  failed: [
    buys(
      AMOUNT.vendorNeverFunds,
      vendorAccepts,
      escrowFails(['awaiting_vendor_escrow_funding', 'awaiting_fiat_transfer', 'fiat_transfer_pending']),
    ),
    sells(escrowFails(UNFUNDED_OFFRAMP)),
  ],
  dispute_started: [buysAndPays(onrampDispute), sells(...proven, offrampDispute)],
};

/** Every event of the API: one without a plan is a type error, and so is a status without a way. */
export const PLANS: { readonly [Type in EventType]: Plan<StatusOf<EventData[Type]>> } = {
  'order.status.changed': {
    summary: 'An order moves to a status.',
    usual: 'completed',
    ways: ORDER_STATUSES,
  },
  'order.refund.required': {
    summary: 'An off-ramp order stops while your crypto is in escrow: sign its refund.',
    usual: 'cancelled',
    ways: {
      cancelled: [sells(signDeposit, cancel(['crypto_received']))],
      failed: [sells(signDeposit, escrowFails(['crypto_received']))],
    },
  },
  'order.release.required': {
    summary: 'A dispute about an on-ramp order is decided for you: sign the release.',
    usual: 'dispute_started',
    ways: { dispute_started: [buysAndPays(onrampDispute, disputeDecidedForYou)] },
  },
  'user.kyc.updated': {
    summary: 'The KYC of a customer is decided.',
    usual: 'VERIFIED',
    ways: {
      VERIFIED: [{ steps: [newCustomer, kycBecomes('VERIFIED')] }],
      REJECTED: [{ steps: [newCustomer, kycBecomes('REJECTED')] }],
      UNDER_REVIEW: [{ steps: [newCustomer, kycBecomes('UNDER_REVIEW')] }],
    },
  },
  'retail.settlement.completed': {
    summary: 'A deposit into an account of a customer is collected into yours.',
    usual: NO_STATUS,
    ways: { [NO_STATUS]: [{ steps: [collectionOn, ...verifiedCustomer, accountIssued, depositMade] }] },
  },
  'webhook.test': {
    summary: 'A test event, which goes to webhooks and is in no stream.',
    usual: NO_STATUS,
    ways: { [NO_STATUS]: [{ steps: [testEventReceived, testEventSent] }] },
  },
};

export const EVENT_TYPES = Object.keys(PLANS) as readonly EventType[];
