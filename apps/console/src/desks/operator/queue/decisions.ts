import type { QueueKind } from '@causeway/protocol/console';
import type { QueueCaseDetail } from '@causeway/sdk';
import { type Decision, PUT_OFF } from './decision.ts';
import { DEPOSIT, DISPUTE, FIAT_PAYMENT, HOLD, OVERDUE_CONFIRMATION, PROOF } from './order-decisions.ts';
import { KYC, RECIPIENT_SCREENING, SCREENING_CASE } from './people-decisions.ts';
import { ofKind } from './selection.ts';
import { EFFECT, OFFER, RECONCILIATION } from './work-decisions.ts';

const DECISIONS: Readonly<Record<QueueKind, readonly Decision[]>> = {
  kyc: KYC,
  proof: PROOF,
  hold: HOLD,
  dispute: DISPUTE,
  overdue_confirmation: OVERDUE_CONFIRMATION,
  recipient_screening: RECIPIENT_SCREENING,
  screening_case: SCREENING_CASE,
  deposit: DEPOSIT,
  fiat_payment: FIAT_PAYMENT,
  offer: OFFER,
  effect: EFFECT,
  reconciliation: RECONCILIATION,
};

/** What is to be looked at before deciding. */
export const CHECKLISTS: Readonly<Record<QueueKind, readonly string[]>> = {
  kyc: [
    'The document is genuine and valid',
    'Name and date of birth agree',
    'The selfie shows the same person',
  ],
  proof: ['The amount is the order’s', 'The payee is the customer', 'The date is after the order’s'],
  hold: ['Why it is held is understood', 'Where the money is, is known'],
  dispute: ['Both sides’ statements are read', 'Proof of payment is looked at', 'The escrow is funded'],
  overdue_confirmation: ['The side that is to confirm was asked', 'What is known of the payment is read'],
  recipient_screening: ['Name held against the listed one', 'Country and further data compared'],
  screening_case: ['What was found is held against the list', 'Orders it is part of are known'],
  deposit: ['Who paid is known', 'Amount and token are compared with the order'],
  fiat_payment: ['Sender is the customer', 'Reference and time are compared'],
  offer: ['The price is near the market', 'Limits and ways to pay are plausible'],
  effect: ['What it does is understood', 'Whether it has happened is looked up'],
  reconciliation: ['The two records are looked up where they come from', 'Movements of the order are read'],
};

/** Whether what can be decided depends on what the order allows. */
export const isAboutOrder = ({ kind }: QueueCaseDetail): boolean =>
  (ofKind(DECISIONS, kind) ?? []).some(({ action }) => action !== undefined);

/**
 * Which of them make sense for this case as it stands; whether the user may is asked elsewhere. Until it is known what the
 * order allows, its usual two are offered, so that nobody waits for them, and the third way out is not.
 */
export function decisionsOf(
  detail: QueueCaseDetail,
  allowed: readonly string[] | undefined,
): readonly Decision[] {
  const offered = (ofKind(DECISIONS, detail.kind) ?? []).filter((decision) => {
    if (decision.action !== undefined) return allowed?.includes(decision.action) ?? decision.key !== 'Q';
    if (detail.kind === 'effect') {
      const remedy = decision.operation === 'retryEffect' ? 'retry' : 'give-up';
      return detail.effect?.remedies.includes(remedy) ?? false;
    }
    if (decision.operation === 'searchEscrowAgain') return detail.difference?.kind === 'escrow_balance';
    // What the chain is configured for is never left lying.
    if (detail.kind === 'deposit' && decision.key === 'Q') return detail.deposit?.token === null;
    // An unmatched payment lies on the account already.
    if (detail.kind === 'fiat_payment' && decision.key === 'R') {
      return detail.fiat_payment?.status === 'held_for_review';
    }
    return true;
  });
  return [...offered, PUT_OFF];
}
