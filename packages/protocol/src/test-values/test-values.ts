/**
 * What to enter in a sandbox to see an outcome, without any switch. The simulated vendors, bank, bridge, KYC provider and
 * screening read this table, docs/reference/test-values.md is made from it, and a test walks through every row.
 */

/** Where a value is entered, and when it counts. */
export const TEST_VALUE_KINDS = {
  onramp_amount: {
    title: 'On-ramp orders',
    field: '`fiat_amount` of `POST /partner/onramp/quote`, ending in',
    otherwise: 'Any other amount: a vendor accepts, funds the escrow, and confirms your payment.',
  },
  offramp_amount: {
    title: 'Off-ramp orders',
    field: '`fiat_amount` of `POST /partner/offramp/quote`, ending in',
    otherwise: 'Any other amount: the vendor pays, and its proof is accepted.',
  },
  bridge_destination: {
    title: 'Sending out to another network',
    field: '`destination_address` of the send-out',
    otherwise: 'Any other address: the bridge pays out.',
  },
  kyc_last_name: {
    title: 'KYC',
    field: '`last_name` in the KYC submission',
    otherwise: 'Any other name: `VERIFIED`.',
  },
  screened_name: {
    title: 'Screening of names',
    field: 'name of a recipient, or holder of an account, containing',
    otherwise: 'Any other name: `clear`.',
  },
  wallet: {
    title: 'Screening of wallets',
    field: 'wallet of a partner or vendor, or `destination_address` of a send-out',
    otherwise: 'Any other wallet: `clear`, unless a sanctions list names it.',
  },
  bank_client_last_name: {
    title: 'Fiat accounts: opening',
    field: '`last_name` in the identification',
    otherwise: 'Any other name: the bank approves the customer and opens the account.',
  },
  bank_transfer_amount: {
    title: 'Fiat accounts: money that moves on',
    field: '`amount` of a deposit into a fiat account, ending in',
    otherwise: 'Any other amount: the bank pays the vendor of the order, or the partner where it collects.',
  },
  deposit_sender_name: {
    title: 'Fiat accounts: deposits',
    field: '`sender_name` of a deposit into a fiat account, beginning with',
    otherwise: 'Any other sender: the deposit pays the one open order of its amount.',
  },
} as const satisfies Readonly<Record<string, TestValueKindEntry>>;

interface TestValueKindEntry {
  readonly title: string;
  readonly field: string;
  /** What happens without a test value. */
  readonly otherwise: string;
}

export type TestValueKind = keyof typeof TEST_VALUE_KINDS;

interface TestValueRow {
  readonly kind: TestValueKind;
  /** The ending of an amount, a name or part of one, an address in lower case. */
  readonly value: string;
  /** What the simulator does. */
  readonly gives: string;
  /** What is seen then. */
  readonly outcome: string;
  /** How it goes on from there. */
  readonly next: string;
}

const ORDER_VALUES = [
  {
    kind: 'onramp_amount',
    value: '13.01',
    gives: 'vendor_never_accepts',
    outcome: 'No vendor answers: the order stays `awaiting_liquidity_provider`.',
    next: '`cancelled` after 15 minutes.',
  },
  {
    kind: 'onramp_amount',
    value: '13.02',
    gives: 'vendor_declines',
    outcome: 'Every vendor that is asked declines: the order stays `awaiting_liquidity_provider`.',
    next: '`cancelled` after 15 minutes.',
  },
  {
    kind: 'onramp_amount',
    value: '13.03',
    gives: 'vendor_never_funds',
    outcome: 'The vendor accepts and never funds the escrow: `awaiting_vendor_escrow_funding`.',
    next: '`cancelled` after 30 minutes.',
  },
  {
    kind: 'onramp_amount',
    value: '13.04',
    gives: 'vendor_funds_late',
    outcome: 'As above, and the vendor’s crypto arrives after the order was cancelled.',
    next: 'The escrow pays it back to the vendor; the order stays `cancelled`.',
  },
  {
    kind: 'onramp_amount',
    value: '13.05',
    gives: 'vendor_funds_short',
    outcome:
      'The vendor sends nine tenths: the deposit is `held_for_review`, the order stays `awaiting_vendor_escrow_funding`.',
    next: 'The operator decides: `POST /operator/deposits/{deposit_id}/decision`.',
  },
  {
    kind: 'onramp_amount',
    value: '13.06',
    gives: 'vendor_funds_over',
    outcome: 'The vendor sends a tenth too much: the deposit is `held_for_review`, likewise.',
    next: 'The operator decides about the deposit.',
  },
  {
    kind: 'onramp_amount',
    value: '13.07',
    gives: 'order_held',
    outcome: 'The funded order is held for review: `awaiting_fiat_transfer`, and nothing moves.',
    next: 'The operator, or the event `release_hold`, lets it go on.',
  },
  {
    kind: 'onramp_amount',
    value: '13.08',
    gives: 'escrow_error',
    outcome: 'The escrow cannot be used: `failed`.',
    next: 'Open another order.',
  },
  {
    kind: 'onramp_amount',
    value: '13.09',
    gives: 'vendor_never_confirms',
    outcome: 'After `confirm-payment-sent` the vendor says nothing: `fiat_transfer_pending`.',
    next: 'The event `vendor_confirms_fiat` or `dispute_opened`.',
  },
  {
    kind: 'onramp_amount',
    value: '13.10',
    gives: 'vendor_disputes',
    outcome: 'After `confirm-payment-sent` the vendor has not been paid: `dispute_started`.',
    next: 'The operator decides the dispute.',
  },
  {
    kind: 'offramp_amount',
    value: '13.21',
    gives: 'vendor_never_pays',
    outcome: 'The deposit is in escrow and the vendor does not pay: `crypto_received`.',
    next: '`cancelled` after 24 hours, with `order.refund.required`.',
  },
  {
    kind: 'offramp_amount',
    value: '13.22',
    gives: 'proof_refused_once',
    outcome:
      'The first payment proof is refused, the second accepted: `awaiting_fiat_received_confirmation`.',
    next: 'Goes on as usual.',
  },
  {
    kind: 'offramp_amount',
    value: '13.23',
    gives: 'proof_refused',
    outcome: 'Three payment proofs are refused: `cancelled`, with `order.refund.required`.',
    next: 'Sign the refund.',
  },
  {
    kind: 'offramp_amount',
    value: '13.24',
    gives: 'payout_returned',
    outcome: 'The recipient’s bank returns the payout after the proof was accepted: `dispute_started`.',
    next: 'The operator decides the dispute.',
  },
  {
    kind: 'offramp_amount',
    value: '13.25',
    gives: 'cost_exceeded',
    outcome: 'The payout has become more than 20 % dearer: `failed`, and the escrow pays back by itself.',
    next: 'Nothing to do.',
  },
  {
    kind: 'offramp_amount',
    value: '13.26',
    gives: 'escrow_error',
    outcome: 'The escrow cannot be used: `failed`, with `order.refund.required`.',
    next: 'Sign the refund.',
  },
  {
    kind: 'offramp_amount',
    value: '13.27',
    gives: 'order_held',
    outcome: 'The funded order is held for review: `crypto_received`, and nothing moves.',
    next: 'The operator, or the event `release_hold`, lets it go on.',
  },
  {
    kind: 'bridge_destination',
    value: '0x0000000000000000000000000000000000fa11ed',
    gives: 'refuses',
    outcome: 'The bridge gives the crypto back to your wallet: `send_out_failed`.',
    next: 'Authorize the send-out again, to another address.',
  },
  {
    kind: 'bridge_destination',
    value: '0x000000000000000000000000000000000de1a7ed',
    gives: 'waits',
    outcome: 'The bridge keeps the crypto and does not answer: `send_out_pending`.',
    next: 'The event `bridge_settles` or `bridge_fails`; without one the order is held for the operator.',
  },
] as const satisfies readonly TestValueRow[];

const CUSTOMER_VALUES = [
  {
    kind: 'kyc_last_name',
    value: 'Rejected',
    gives: 'verification_refused',
    outcome: '`REJECTED`, with the reason `DOCUMENT_FORGED`.',
    next: 'Final.',
  },
  {
    kind: 'kyc_last_name',
    value: 'Review',
    gives: 'review_requested',
    outcome: '`UNDER_REVIEW`.',
    next: 'The operator decides: `POST /operator/users/{user_uuid}/kyc-decision`.',
  },
  {
    kind: 'kyc_last_name',
    value: 'Resubmit',
    gives: 'resubmission_requested',
    outcome: '`VERIFICATION_REJECTED`, with the reason `DOCUMENT_UNREADABLE`.',
    next: 'Submit again, under another name.',
  },
  {
    kind: 'screened_name',
    value: 'Blocked',
    gives: 'blocked',
    outcome: '`screening_status` is `blocked`; a quote is refused with `RECIPIENT_NOT_CLEARED`.',
    next: 'The operator may clear it.',
  },
  {
    kind: 'screened_name',
    value: 'Review',
    gives: 'review',
    outcome: '`screening_status` is `review`; a quote is refused likewise.',
    next: 'The operator decides.',
  },
  {
    kind: 'wallet',
    value: '0x000000000000000000000000000000000b10c4ed',
    gives: 'blocked',
    outcome: 'Refused with `WALLET_NOT_CLEARED`; the screening case is `blocked`.',
    next: 'The operator may clear it.',
  },
  {
    kind: 'wallet',
    value: '0x00000000000000000000000000000000000ec4ec',
    gives: 'review',
    outcome: 'Refused likewise; the screening case is in `review`.',
    next: 'The operator decides.',
  },
  {
    kind: 'bank_client_last_name',
    value: 'Declined',
    gives: 'client_rejected',
    outcome: 'The bank rejects the customer: the identification is `rejected`.',
    next: 'Identify the customer again, with corrected data.',
  },
  {
    kind: 'bank_client_last_name',
    value: 'Failing',
    gives: 'account_refused',
    outcome: 'The bank does not open the account: it is `failed`.',
    next: 'Final for this account.',
  },
  {
    kind: 'bank_client_last_name',
    value: 'Unavailable',
    gives: 'bank_closed',
    outcome: 'The bank is closed whenever the account is to be opened: it stays `provisioning`.',
    next: 'Tried again for a time, then `failed`.',
  },
  {
    kind: 'bank_transfer_amount',
    value: '13.13',
    gives: 'transfer_returned',
    outcome:
      'The bank does not move the money on. An order that it pays is held; what would be collected stays.',
    next: 'The operator looks into it.',
  },
  {
    kind: 'deposit_sender_name',
    value: 'Held ',
    gives: 'deposit_held',
    outcome: 'The bank flags the deposit: it is `held_for_review`, and the order that it would pay is held.',
    next: 'The operator decides: `POST /operator/fiat-payments/{payment_id}/decision`.',
  },
] as const satisfies readonly TestValueRow[];

export const TEST_VALUES = [...ORDER_VALUES, ...CUSTOMER_VALUES] as const;

export type TestValue<K extends TestValueKind = TestValueKind> = Extract<
  (typeof TEST_VALUES)[number],
  { readonly kind: K }
>;
export type TestOutcome<K extends TestValueKind> = TestValue<K>['gives'];

/** The values of one kind, in the order in which they are looked for. */
export function testValuesOf<K extends TestValueKind>(kind: K): readonly TestValue<K>[] {
  return TEST_VALUES.filter((row): row is TestValue<K> => row.kind === kind);
}

export function testOutcomeOf<K extends TestValueKind>(
  kind: K,
  fits: (value: string) => boolean,
): TestOutcome<K> | undefined {
  return testValuesOf(kind).find(({ value }) => fits(value))?.gives as TestOutcome<K> | undefined;
}

type AmountKind = Extract<TestValueKind, `${string}_amount`>;

/** By the last four digits of an amount of two decimals: rare enough that no amount is a test value by accident. */
export function testOutcomeOfAmount<K extends AmountKind>(
  kind: K,
  amount: { readonly atomic: bigint; readonly decimals: number },
): TestOutcome<K> | undefined {
  if (amount.decimals < 2) return undefined;
  const scale = 10n ** BigInt(amount.decimals - 2);
  const ending = amount.atomic % (10_000n * scale);
  return testOutcomeOf(kind, (value) => BigInt(value.replace('.', '')) * scale === ending);
}
