/**
 * Where the reconciliation finds two records of one thing to differ. A kind each, so that an alert, a case of the queue and
 * a page say the same of it.
 */
export const DIFFERENCE_MEANINGS = {
  books_unbalanced: 'The postings of an asset do not sum to zero.',
  escrow_balance: 'An escrow holds another amount on chain than the books say.',
  entry_missing: 'An order has come further than its books: a movement is not booked.',
  entry_unexpected: 'The books have a movement that the order does not have.',
  entry_amount: 'A movement is booked with other amounts or accounts than the order has.',
  order_amount: 'An order has another amount, fee or rate than its quote.',
  effect_missing: 'An order waits for work that nobody has been asked to do.',
  event_missing: 'An order has changed, and the event that tells of it is gone from the outbox.',
  stream_gap: 'An event or a number is missing in a partner’s stream of events.',
  delivery_missing: 'A delivery of an event to a webhook is gone.',
  bank_payment_missing: 'The bank has received a payment that is not in the books.',
  bank_payment_unknown: 'A payment is in the books that the bank does not know.',
  bank_payment_account: 'A payment is in the books for another account than at the bank.',
  bank_payment_amount: 'A payment is in the books with another amount than at the bank.',
} as const;

export type DifferenceKind = keyof typeof DIFFERENCE_MEANINGS;
export const DIFFERENCE_KINDS = Object.keys(DIFFERENCE_MEANINGS) as DifferenceKind[];

/** What a person does about it. */
export const DIFFERENCE_ADVICE: Readonly<Record<DifferenceKind, string>> = {
  books_unbalanced:
    'Every movement is booked on two sides, so an asset sums to zero. A posting was changed or removed outside the service: stop payouts, and compare with the last backup.',
  escrow_balance:
    'Look the escrow up on the chain and read the movements of its order. The worker has searched the chain once more by itself, and books what it finds; search again if a node was at fault then, and compare again.',
  entry_missing:
    'Status and books are written in one transaction, so one of them was changed outside the service. Hold the order, and see on the chain or at the bank which of them is right.',
  entry_unexpected:
    'Somebody has booked outside the service, or put the order back. Hold the order, and see on the chain or at the bank which is right.',
  entry_amount:
    'The amounts of the order or of its entry were changed after it was booked. Compare with the quote, the chain and the last backup.',
  order_amount:
    'An order takes them from its quote and keeps them, so one of the two was changed outside the service. Hold the order before anybody pays by it, and compare with the events that the partner was sent.',
  effect_missing:
    'The work was removed outside the service. Decide the order by hand: the escrow shows whether it was done.',
  event_missing:
    'The partner may not know of the change. Tell it to read the order, and compare with the last backup.',
  stream_gap:
    'A reader of the stream has missed what is gone. Tell the partner to read its orders, and compare with the last backup.',
  delivery_missing:
    'The partner’s webhook was not called. Replay the event from the partner’s list of deliveries.',
  bank_payment_missing:
    'See at the bank whom it is for. Where it belongs to no account here, the bank returns it; else have it reported again.',
  bank_payment_unknown:
    'Ask the bank. It may have called the payment back: the order that it paid has then not been paid.',
  bank_payment_account:
    'Whoever paid is not the one who was credited. Ask the bank which account it was for, before an order is paid by it.',
  bank_payment_amount: 'Ask the bank which amount is right before anything more is paid out for it.',
};
