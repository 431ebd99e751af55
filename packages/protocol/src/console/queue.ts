/**
 * What waits for a person, by kind: one list for the server that finds it, the configuration that says how soon it should be
 * decided, and the page that shows it.
 */
export const QUEUE_KINDS = [
  'kyc',
  'proof',
  'hold',
  'dispute',
  'overdue_confirmation',
  'recipient_screening',
  'screening_case',
  'deposit',
  'fiat_payment',
  'offer',
  'effect',
  'reconciliation',
] as const;
export type QueueKind = (typeof QUEUE_KINDS)[number];

export const QUEUE_TITLES: Readonly<Record<QueueKind, string>> = {
  kyc: 'KYC reviews',
  proof: 'Payment proofs',
  hold: 'Orders on hold',
  dispute: 'Disputes',
  overdue_confirmation: 'Confirmations that do not come',
  recipient_screening: 'Recipients found on a list',
  screening_case: 'Account holders and wallets found on a list',
  deposit: 'Odd deposits',
  fiat_payment: 'Fiat payments to match',
  offer: 'Offers to authorize',
  effect: 'Stuck work',
  reconciliation: 'Records that differ',
};

/** How soon each should be decided, where the configuration does not say otherwise. */
export const QUEUE_TARGET_MINUTES: Readonly<Record<QueueKind, number>> = {
  kyc: 480,
  proof: 30,
  hold: 120,
  dispute: 1_440,
  overdue_confirmation: 240,
  recipient_screening: 240,
  screening_case: 240,
  deposit: 240,
  fiat_payment: 120,
  offer: 1_440,
  effect: 30,
  reconciliation: 60,
};

/**
 * How long an order waits for a word of one side (that the fiat has arrived, or a signature after a dispute) before an
 * operator asks for it. A day, as long as an off-ramp vendor has for its payment: fiat is with its payee by then on every rail
 * but for weekends, and no clock may decide instead, because the money may have been paid.
 */
export const CONFIRMATION_OVERDUE_SECONDS = 86_400;

/** A claim ends by itself after so long without a decision. */
export const QUEUE_CLAIM_MINUTES = 30;
