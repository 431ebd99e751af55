/**
 * What waits for a person, by kind: one list for the server that finds it, the configuration that says how soon it should be
 * decided, and the page that shows it.
 */
export const QUEUE_KINDS = [
  'kyc',
  'proof',
  'hold',
  'dispute',
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
  recipient_screening: 240,
  screening_case: 240,
  deposit: 240,
  fiat_payment: 120,
  offer: 1_440,
  effect: 30,
  reconciliation: 60,
};

/** A claim ends by itself after so long without a decision. */
export const QUEUE_CLAIM_MINUTES = 30;
