import type { VendorOrder, VendorOrderDetail } from '@causeway/sdk';

/** What the vendor has to do next with an order, in the order of a form: the page shows the part for it. */
export type NextStep =
  | 'accept'
  | 'sign-refund'
  | 'fund'
  | 'wait-for-escrow'
  | 'wait-for-fiat'
  | 'confirm-fiat'
  | 'wait-for-deposit'
  | 'pay'
  | 'wait-for-review'
  | 'wait-for-recipient'
  | 'confirm-settlement'
  | 'answer-dispute'
  | 'sign-release'
  | 'held'
  | 'ended'
  | 'wait';

const WORDS: Readonly<Record<NextStep, string>> = {
  accept: 'Accept or decline',
  'sign-refund': 'Sign the refund',
  fund: 'Send your crypto to the escrow',
  'wait-for-escrow': 'Your payment is being confirmed on chain',
  'wait-for-fiat': 'The customer pays you',
  'confirm-fiat': 'Check your bank account, then confirm',
  'wait-for-deposit': 'The customer’s crypto comes into the escrow',
  pay: 'Pay the customer and prove it',
  'wait-for-review': 'The operator checks your proof',
  'wait-for-recipient': 'The recipient confirms the money',
  'confirm-settlement': 'Say when the recipient has the money',
  'answer-dispute': 'Say what happened',
  'sign-release': 'Sign the release',
  held: 'Held for review: do nothing, pay nothing',
  ended: 'Nothing more to do',
  wait: 'Others act first',
};

export function stepWords(step: NextStep): string {
  return WORDS[step];
}

/** Steps that wait for this vendor. */
const OWN: ReadonlySet<NextStep> = new Set([
  ...(['accept', 'sign-refund', 'fund', 'confirm-fiat', 'pay', 'confirm-settlement'] as const),
  ...(['answer-dispute', 'sign-release'] as const),
]);

export function isOwnStep(step: NextStep): boolean {
  return OWN.has(step);
}

/** By what the service allows now; where it allows nothing, by who acts in this status. */
export function nextStepOf(order: VendorOrder | VendorOrderDetail): NextStep {
  const may = (action: string) => order.allowed_actions.includes(action);
  // It may be accepted all the same, but who does so locks crypto in an order that may not go on.
  if (may('accept')) return order.held_for_review ? 'held' : 'accept';
  if (may('sign-release') && !('signed' in order && order.signed.release)) return 'sign-release';
  if (may('dispute-statements')) return 'answer-dispute';
  if (order.held_for_review) return 'held';
  if (needsRefundSignature(order)) return 'sign-refund';
  if (may('fiat-confirmed')) return 'confirm-fiat';
  if (may('payment-proof')) return 'pay';
  if (may('fiat-settled')) return 'confirm-settlement';
  return waitingStep(order);
}

function waitingStep(order: VendorOrder | VendorOrderDetail): NextStep {
  if (hasEnded(order)) return 'ended';
  switch (order.status) {
    case 'awaiting_vendor_escrow_funding':
      return 'funding' in order && order.funding?.state !== 'awaited' ? 'wait-for-escrow' : 'fund';
    case 'awaiting_fiat_transfer':
      return 'wait-for-fiat';
    case 'awaiting_crypto_transfer_authorization':
    case 'crypto_transfer_authorization_pending':
      return 'wait-for-deposit';
    case 'fiat_payment_started':
    case 'fiat_payment_review_started':
      return 'wait-for-review';
    case 'awaiting_fiat_received_confirmation':
      return 'wait-for-recipient';
    default:
      return 'wait';
  }
}

/** The tables of the machines would be the larger part of the first page; what has ended shows in the order itself. */
const ENDED = /^(?:completed|cancelled|failed|send_out_.+)$/;

function hasEnded({ status }: VendorOrder): boolean {
  return ENDED.test(status);
}

/** An off-ramp order that the quote gave to this vendor was never offered: its refund is signed apart. */
function needsRefundSignature(order: VendorOrder | VendorOrderDetail): boolean {
  if (!('signed' in order) || order.signed.refund || order.direction !== 'offramp') return false;
  return order.status !== 'completed' && order.funding?.state !== 'emptied';
}
