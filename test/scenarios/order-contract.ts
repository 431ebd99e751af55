/**
 * C3.1, C3.2, C4.5, C4.6 and D6 as a reader of those pages would write them down. Nothing here comes
 * from the machines: where the two differ, a scenario fails.
 */
export type Direction = 'onramp' | 'offramp';

/** One step of an order: what moved it, from where, past which mid-flight statuses, to where. */
export interface ContractRow {
  readonly direction: Direction;
  /** Null where the order begins with it. */
  readonly from: string | null;
  readonly through?: readonly string[];
  readonly to: string;
  /** D13: why the order stopped, and who cancelled it. */
  readonly stop?: Stop;
}

export interface Stop {
  readonly failure: string;
  readonly retryable: boolean;
  readonly cancelledBy: string | null;
}

const stop = (failure: string, cancelledBy: string | null = null, retryable = true): { stop: Stop } => ({
  stop: { failure, retryable, cancelledBy },
});
const ON_REQUEST = stop('CANCELLED_ON_REQUEST', 'partner');
const ESCROW_ERROR = stop('ESCROW_ERROR');

const RELEASED = ['fiat_received_confirmed', 'crypto_release_pending'];

const onramp = (from: string | null, to: string, through: readonly string[] = []): ContractRow => ({
  direction: 'onramp',
  from,
  through,
  to,
});
const offramp = (from: string | null, to: string, through: readonly string[] = []): ContractRow => ({
  direction: 'offramp',
  from,
  through,
  to,
});

const ONRAMP_ROWS = {
  '3.1 initiate': onramp(null, 'awaiting_liquidity_provider'),
  '3.1 vendor accepts': onramp('awaiting_liquidity_provider', 'awaiting_vendor_escrow_funding'),
  '3.1 crypto locked': onramp('awaiting_vendor_escrow_funding', 'awaiting_fiat_transfer'),
  '3.1 confirm-payment-sent': onramp('awaiting_fiat_transfer', 'fiat_transfer_pending'),
  '3.1 deposit matched': onramp('awaiting_fiat_transfer', 'fiat_transfer_pending'),
  '3.1 vendor confirms fiat': onramp('fiat_transfer_pending', 'completed', RELEASED),
  '3.1 authorize-bridge': onramp('completed', 'send_out_pending'),
  '3.1 bridge settles': onramp('send_out_pending', 'send_out_completed'),
  '3.1 bridge fails': onramp('send_out_pending', 'send_out_failed'),
  '3.1 authorize-bridge again': onramp('send_out_failed', 'send_out_pending'),
  'cancelled before a vendor': { ...onramp('awaiting_liquidity_provider', 'cancelled'), ...ON_REQUEST },
  'cancelled before the escrow': { ...onramp('awaiting_vendor_escrow_funding', 'cancelled'), ...ON_REQUEST },
  'cancelled before the payment': { ...onramp('awaiting_fiat_transfer', 'cancelled'), ...ON_REQUEST },
  'no vendor in 15 min': {
    ...onramp('awaiting_liquidity_provider', 'cancelled'),
    ...stop('NO_VENDOR_ACCEPTED', 'system'),
  },
  'no escrow funding in 30 min': {
    ...onramp('awaiting_vendor_escrow_funding', 'cancelled'),
    ...stop('VENDOR_DID_NOT_FUND', 'system'),
  },
  'no fiat in 60 min': {
    ...onramp('awaiting_fiat_transfer', 'cancelled'),
    ...stop('FIAT_NOT_SENT', 'system'),
  },
  'escrow error before the escrow': {
    ...onramp('awaiting_vendor_escrow_funding', 'failed'),
    ...ESCROW_ERROR,
  },
  'escrow error before the payment': { ...onramp('awaiting_fiat_transfer', 'failed'), ...ESCROW_ERROR },
  'escrow error after the payment': { ...onramp('fiat_transfer_pending', 'failed'), ...ESCROW_ERROR },
  'dispute opened': onramp('fiat_transfer_pending', 'dispute_started'),
  'dispute for the seller': {
    ...onramp('dispute_started', 'cancelled'),
    ...stop('DISPUTE_DECIDED_FOR_VENDOR', 'operator', false),
  },
} as const satisfies Record<string, ContractRow>;

const AUTHORIZED = ['crypto_transfer_authorization_pending'];

const OFFRAMP_ROWS = {
  '3.2 initiate': offramp(null, 'awaiting_crypto_transfer_authorization', ['created']),
  '3.2 initiate, vendor gone': offramp(null, 'awaiting_liquidity_provider', ['created']),
  '3.2 vendor accepts': offramp('awaiting_liquidity_provider', 'awaiting_crypto_transfer_authorization'),
  '3.2 authorize-crypto-transfer': offramp(
    'awaiting_crypto_transfer_authorization',
    'crypto_received',
    AUTHORIZED,
  ),
  '3.2 wallet pays by itself': offramp('awaiting_crypto_transfer_authorization', 'crypto_received'),
  '3.2 transfer refused by the chain': offramp(
    'crypto_transfer_authorization_pending',
    'awaiting_crypto_transfer_authorization',
  ),
  '3.2 buyer submits proof': offramp('crypto_received', 'fiat_payment_started'),
  '3.2 admin reviews proof': offramp('fiat_payment_started', 'fiat_payment_review_started'),
  '3.2 proof accepted': offramp('fiat_payment_review_started', 'awaiting_fiat_received_confirmation'),
  '3.2 proof refused': offramp('fiat_payment_review_started', 'fiat_payment_started'),
  '3.2 confirm-fiat-received': offramp('awaiting_fiat_received_confirmation', 'completed', RELEASED),
  '3.2 automatic confirmation': offramp('awaiting_fiat_received_confirmation', 'completed', RELEASED),
  '3.2 cancelled before a vendor': { ...offramp('awaiting_liquidity_provider', 'cancelled'), ...ON_REQUEST },
  '3.2 cancelled before the deposit': {
    ...offramp('awaiting_crypto_transfer_authorization', 'cancelled'),
    ...ON_REQUEST,
  },
  '3.2 cancelled while authorized': {
    ...offramp('crypto_transfer_authorization_pending', 'cancelled'),
    ...ON_REQUEST,
  },
  '3.2 cancelled with a deposit': { ...offramp('crypto_received', 'cancelled'), ...ON_REQUEST },
  '3.2 no vendor in time': {
    ...offramp('awaiting_liquidity_provider', 'cancelled'),
    ...stop('NO_VENDOR_ACCEPTED', 'system'),
  },
  '3.2 no authorization in 30 min': {
    ...offramp('awaiting_crypto_transfer_authorization', 'cancelled'),
    ...stop('TRANSFER_NOT_AUTHORIZED', 'system'),
  },
  '3.2 no proof in time': {
    ...offramp('crypto_received', 'cancelled'),
    ...stop('VENDOR_DID_NOT_PAY', 'system'),
  },
  '3.2 refused proof not renewed': {
    ...offramp('fiat_payment_started', 'cancelled'),
    ...stop('PAYMENT_PROOF_NOT_RENEWED', 'system'),
  },
  '3.2 third proof refused': {
    ...offramp('fiat_payment_review_started', 'cancelled'),
    ...stop('PAYMENT_PROOFS_REFUSED', 'operator'),
  },
  '3.2 escrow error before a vendor': {
    ...offramp('awaiting_liquidity_provider', 'failed'),
    ...ESCROW_ERROR,
  },
  '3.2 escrow error while authorized': {
    ...offramp('crypto_transfer_authorization_pending', 'failed'),
    ...ESCROW_ERROR,
  },
  '3.2 escrow error before the deposit': {
    ...offramp('awaiting_crypto_transfer_authorization', 'failed'),
    ...ESCROW_ERROR,
  },
  '3.2 escrow error with a deposit': { ...offramp('crypto_received', 'failed'), ...ESCROW_ERROR },
  '3.2 escrow error after the proof': { ...offramp('fiat_payment_started', 'failed'), ...ESCROW_ERROR },
  '3.2 escrow error under review': { ...offramp('fiat_payment_review_started', 'failed'), ...ESCROW_ERROR },
  '3.2 escrow error after the review': {
    ...offramp('awaiting_fiat_received_confirmation', 'failed'),
    ...ESCROW_ERROR,
  },
  '3.2 cost beyond 1.20': { ...offramp('crypto_received', 'failed'), ...stop('COST_BOUND_EXCEEDED') },
  '3.2 dispute with a deposit': offramp('crypto_received', 'dispute_started'),
  '3.2 dispute after the proof': offramp('fiat_payment_started', 'dispute_started'),
  '3.2 dispute under review': offramp('fiat_payment_review_started', 'dispute_started'),
  '3.2 dispute after the review': offramp('awaiting_fiat_received_confirmation', 'dispute_started'),
  '3.2 dispute for the buyer': offramp('dispute_started', 'completed', ['crypto_release_pending']),
  '3.2 dispute for the seller': {
    ...offramp('dispute_started', 'cancelled'),
    ...stop('DISPUTE_DECIDED_FOR_PARTNER', 'operator'),
  },
} as const satisfies Record<string, ContractRow>;

const ROWS = { ...ONRAMP_ROWS, ...OFFRAMP_ROWS };
export type RowName = keyof typeof ROWS;
export const CONTRACT_ROWS: Readonly<Record<RowName, ContractRow>> = ROWS;

/** D6: never seen by a partner but in the timeline. The other three are mid-flight. */
const UNPUBLISHED = [
  'created',
  'crypto_transfer_authorization_pending',
  'fiat_received_confirmed',
  'crypto_release_pending',
];

/** C6: what a webhook may carry, in the order in which it happened. */
export function publishedOf(timeline: readonly string[]): string[] {
  return timeline.filter((status) => !UNPUBLISHED.includes(status));
}

/** D6: the statuses that time out, and after how many seconds; the last two are ours. */
const TIMEOUTS: Readonly<Record<Direction, Readonly<Record<string, number>>>> = {
  onramp: {
    awaiting_liquidity_provider: 900,
    awaiting_vendor_escrow_funding: 1_800,
    awaiting_fiat_transfer: 3_600,
  },
  offramp: {
    awaiting_liquidity_provider: 900,
    awaiting_crypto_transfer_authorization: 1_800,
    crypto_received: 86_400,
    fiat_payment_started: 86_400,
  },
};

/** D13: when the present wait ends; null where none does. */
export function expiryOf(direction: Direction, entry: { readonly status: string; readonly at: string }) {
  const seconds = TIMEOUTS[direction][entry.status];
  return seconds === undefined ? null : new Date(Date.parse(entry.at) + seconds * 1_000).toISOString();
}

/** What about an order, besides its status, decides what its partner reads. */
export interface Situation {
  /** Funded escrow from which nothing has moved out, of an order that stopped. */
  readonly refundOwed?: boolean;
  /** The refund is signed and under way. */
  readonly refunding?: boolean;
  readonly held?: boolean;
  /** Where it is held: what is told of it, unless an operator placed the hold. */
  readonly holdReason?: string;
  /** A hold that ended in this status: it moved the time-out by as long as it stood. */
  readonly wasHeld?: boolean;
  /** A payment proof waits for its review. */
  readonly proofPending?: boolean;
  /** Paid from the customer's own account. */
  readonly ownIban?: boolean;
  /** Left out where the order is none. */
  readonly paymentRequest?: 'payer unknown' | 'payer known';
  readonly providerConfirms?: boolean;
  readonly widget?: boolean;
}

export interface Reading {
  readonly allowed: readonly string[];
  readonly next: string;
  /** The action that `action_required` names, and the read that prepares it. */
  readonly required?: { readonly action: string; readonly parameters?: string };
}

const WAIT: Reading = { allowed: [], next: 'wait' };
const ENDED: Reading = { allowed: [], next: 'none' };
const CANCEL_OR_WAIT: Reading = { allowed: ['cancel'], next: 'wait' };

/** C4.5 rules 5 and 6; D6: not cancelled while the customer's fiat may be here already. */
function paymentWanted({ paymentRequest, ownIban, held }: Situation): Reading {
  if (ownIban) return held ? WAIT : { allowed: ['cancel'], next: 'deposit_to_user_account' };
  if (paymentRequest === 'payer unknown') {
    return {
      allowed: ['cancel', 'submit-payer-details'],
      next: 'submit_payer_details',
      required: { action: 'submit-payer-details' },
    };
  }
  const again = paymentRequest === 'payer known' ? ['submit-payer-details'] : [];
  return {
    allowed: ['cancel', 'confirm-payment-sent', ...again],
    next: 'confirm_payment_sent',
    required: { action: 'confirm-payment-sent' },
  };
}

/** C4.6 rules 2 and 4; a hold keeps the refund back. */
function stopped({ refundOwed, refunding, held }: Situation): Reading {
  if (refunding || (refundOwed && held)) return WAIT;
  if (!refundOwed) return ENDED;
  return {
    allowed: ['authorize-refund'],
    next: 'authorize_refund',
    required: { action: 'authorize-refund', parameters: 'refund-authorization-parameters' },
  };
}

type Readings = Readonly<Record<string, Reading | ((situation: Situation) => Reading)>>;

const ONRAMP_READINGS: Readings = {
  awaiting_liquidity_provider: CANCEL_OR_WAIT,
  awaiting_vendor_escrow_funding: CANCEL_OR_WAIT,
  awaiting_fiat_transfer: paymentWanted,
  fiat_transfer_pending: WAIT,
  fiat_received_confirmed: WAIT,
  crypto_release_pending: WAIT,
  completed: { allowed: ['authorize-bridge'], next: 'none' },
  send_out_pending: WAIT,
  send_out_completed: ENDED,
  send_out_failed: { allowed: ['authorize-bridge'], next: 'none' },
  cancelled: ENDED,
  failed: ENDED,
  dispute_started: ENDED,
};

const OFFRAMP_READINGS: Readings = {
  awaiting_liquidity_provider: CANCEL_OR_WAIT,
  awaiting_crypto_transfer_authorization: {
    allowed: ['authorize-crypto-transfer', 'cancel'],
    next: 'authorize_crypto_transfer',
    required: { action: 'authorize-crypto-transfer', parameters: 'transfer-authorization-parameters' },
  },
  crypto_transfer_authorization_pending: CANCEL_OR_WAIT,
  crypto_received: CANCEL_OR_WAIT,
  fiat_payment_started: WAIT,
  fiat_payment_review_started: WAIT,
  awaiting_fiat_received_confirmation: ({ providerConfirms }) => ({
    allowed: ['confirm-fiat-received'],
    ...(providerConfirms
      ? { next: 'wait' }
      : { next: 'confirm_fiat_received', required: { action: 'confirm-fiat-received' } }),
  }),
  fiat_received_confirmed: WAIT,
  crypto_release_pending: WAIT,
  completed: ENDED,
  cancelled: stopped,
  failed: stopped,
  dispute_started: ENDED,
};

/** C4.6 rule 5: a widget order allows nothing at any status. */
export function readingOf(direction: Direction, status: string, situation: Situation): Reading {
  const found = (direction === 'onramp' ? ONRAMP_READINGS : OFFRAMP_READINGS)[status];
  if (found === undefined) throw new Error(`the contract has no ${direction} order in ${status}`);
  const reading = typeof found === 'function' ? found(situation) : found;
  if (!situation.widget) return reading;
  return { allowed: [], next: reading.required === undefined ? reading.next : 'wait' };
}

const HOLDING: Readonly<Record<Direction, readonly string[]>> = {
  onramp: ['awaiting_fiat_transfer', 'fiat_transfer_pending', 'fiat_received_confirmed', 'dispute_started'],
  offramp: [
    'crypto_received',
    'fiat_payment_started',
    'fiat_payment_review_started',
    'awaiting_fiat_received_confirmation',
    'fiat_received_confirmed',
    'dispute_started',
  ],
};

/** Whether the escrow holds the whole deposit; the rest of the time it holds nothing. */
export function isEscrowFull(direction: Direction, status: string, situation: Situation): boolean {
  return HOLDING[direction].includes(status) || situation.refundOwed === true;
}
