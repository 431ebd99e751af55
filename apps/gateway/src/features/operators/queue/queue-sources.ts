import {
  DEPOSIT_HELD,
  FIAT_PAYMENT_HELD,
  FIAT_PAYMENT_RECEIVED,
  KYC_IN_REVIEW,
  ORDER_DISPUTED,
  orderStatusesAwaitingFiatConfirmation,
  orderStatusesThatKnow,
  SCREENING_CLEAR,
  SCREENING_IN_REVIEW,
} from '@causeway/protocol';
import { CONFIRMATION_OVERDUE_SECONDS, type QueueKind } from '@causeway/protocol/console';
import { sqlWords } from '../../../db/statement.ts';
import { LATE_INTENTS, STUCK_INTENTS } from '../../../engine/stuck-intents.store.ts';

/** How one kind is found. All but `where` are columns. */
export interface Source {
  readonly from: string;
  readonly where: string;
  readonly id: string;
  /** Since when it waits; with `id` the order of the kind’s index. */
  readonly since: string;
  readonly partner?: string;
  readonly order?: string;
  readonly amount?: readonly [amount: string, decimals: string, currency: string];
  readonly facts?: string;
}

const HELD = `(o.facts->>'held')::boolean`;
const DISPUTED = `o.status = ${sqlWords(ORDER_DISPUTED)}`;
const ORDER_FACTS = `jsonb_build_object('direction', o.direction, 'hold_reason', o.hold_reason, 'held', ${HELD})`;
const AWARDED = `coalesce((o.facts->>'awardedToBuyer')::boolean, false)`;
const CRYPTO = ['o.crypto_amount::text', 'o.crypto_decimals', 'o.crypto_currency'] as const;
const AWAITING_DEPOSIT = sqlWords(orderStatusesThatKnow('deposit_matched'));
const PROOF_DECIDABLE = sqlWords([
  ...new Set([...orderStatusesThatKnow('proof_review_started'), ...orderStatusesThatKnow('proof_accepted')]),
]);
const AWAITING_CONFIRMATION = sqlWords(orderStatusesAwaitingFiatConfirmation());
const OVERDUE_AFTER = `interval '${CONFIRMATION_OVERDUE_SECONDS} seconds'`;
/** A payment that came before its order waited for it can be matched by a person; later nothing waits for it. */
const UNMATCHED_DAYS = 30;

export function sources({
  now,
  late,
}: {
  readonly now: string;
  readonly late: string;
}): Record<QueueKind, readonly Source[]> {
  const payment = {
    from: 'fiat_payments f',
    id: 'f.payment_id',
    since: 'f.received_at',
    partner: 'f.partner_id',
    amount: ['f.amount::text', 'f.currency_decimals', 'f.currency'],
  } as const;
  const unconfirmed = {
    from: 'orders o',
    id: 'o.order_id',
    partner: 'o.partner_id',
    order: 'o.order_id',
    amount: CRYPTO,
  } as const;
  const effect = {
    from: 'intents i',
    id: 'i.intent_id',
    partner: 'i.partner_id',
    order: `(i.payload->>'order_id')::uuid`,
  } as const;
  return {
    kyc: [
      {
        from: 'users u',
        where: `u.kyc_status = ${sqlWords(KYC_IN_REVIEW)} AND u.erased_at IS NULL`,
        id: 'u.user_id',
        since: 'u.kyc_updated_at',
        partner: 'u.partner_id',
      },
    ],
    proof: [
      {
        from: 'payment_proofs p JOIN orders o ON o.order_id = p.order_id',
        where: `p.verdict IS NULL AND (o.facts->>'proofPending')::boolean AND o.status IN (${PROOF_DECIDABLE})`,
        id: 'p.proof_id',
        since: 'p.submitted_at',
        partner: 'p.partner_id',
        order: 'p.order_id',
        amount: ['o.fiat_amount::text', 'o.fiat_decimals', 'o.fiat_currency'],
        facts: `jsonb_build_object('rejections', (o.facts->>'proofRejections')::int, 'held', ${HELD})`,
      },
    ],
    hold: [
      {
        from: 'orders o',
        // A disputed order is one case, its dispute; a hold that a payment placed is decided with the payment.
        where: `${HELD} AND NOT ${DISPUTED} AND NOT (coalesce((o.facts->>'heldForDeposit')::boolean, false)
          AND EXISTS (SELECT FROM fiat_payments f WHERE f.status = ${sqlWords(FIAT_PAYMENT_HELD)}
                         AND o.order_id = ANY(f.held_order_ids)))`,
        id: 'o.order_id',
        since: 'coalesce(o.held_at, o.updated_at)',
        partner: 'o.partner_id',
        order: 'o.order_id',
        amount: CRYPTO,
        facts: ORDER_FACTS,
      },
    ],
    dispute: [
      {
        from: 'orders o',
        // Decided for the buyer, it waits for a signature and for no operator.
        where: `${DISPUTED} AND NOT ${AWARDED}`,
        id: 'o.order_id',
        since: `(o.timeline->-1->>'at')::timestamptz`,
        partner: 'o.partner_id',
        order: 'o.order_id',
        amount: CRYPTO,
        facts: ORDER_FACTS,
      },
    ],
    overdue_confirmation: [
      {
        ...unconfirmed,
        // No order is older in its status than it is itself, which is what the index is sorted by.
        where: `o.status IN (${AWAITING_CONFIRMATION}) AND NOT ${HELD} AND o.created_at <= ${now}::timestamptz - ${OVERDUE_AFTER}
          AND (o.timeline->-1->>'at')::timestamptz <= ${now}::timestamptz - ${OVERDUE_AFTER}`,
        since: `((o.timeline->-1->>'at')::timestamptz + ${OVERDUE_AFTER})`,
        facts: `jsonb_build_object('direction', o.direction)`,
      },
      {
        ...unconfirmed,
        where: `${DISPUTED} AND ${AWARDED} AND o.updated_at <= ${now}::timestamptz - ${OVERDUE_AFTER}`,
        since: `(o.updated_at + ${OVERDUE_AFTER})`,
        facts: `jsonb_build_object('awarded', true, 'held', ${HELD})`,
      },
    ],
    recipient_screening: [
      {
        from: 'recipients r',
        where: `r.screening_status = ${sqlWords(SCREENING_IN_REVIEW)} AND r.erased_at IS NULL`,
        id: 'r.recipient_id',
        since: 'r.updated_at',
        partner: 'r.partner_id',
      },
    ],
    screening_case: [
      {
        from: 'screening_cases c',
        where: `c.screening_status = ${sqlWords(SCREENING_IN_REVIEW)} AND c.screening_status <> ${sqlWords(SCREENING_CLEAR)}`,
        id: 'c.case_id',
        since: 'c.updated_at',
        partner: 'c.partner_id',
        facts: `jsonb_build_object('subject_kind', c.subject_kind)`,
      },
    ],
    deposit: [
      {
        from: 'deposit_observations d JOIN orders o ON o.order_id = d.order_id',
        where: `d.disposition = ${sqlWords(DEPOSIT_HELD)}`,
        id: 'd.deposit_id',
        since: 'd.observed_at',
        partner: 'd.partner_id',
        order: 'd.order_id',
        amount: [
          `CASE WHEN d.kind <> 'wrong_token' THEN d.amount::text END`,
          'o.crypto_decimals',
          `CASE WHEN d.kind <> 'wrong_token' THEN o.crypto_currency END`,
        ],
        facts: `jsonb_build_object('deposit_kind', d.kind)`,
      },
    ],
    fiat_payment: [
      {
        ...payment,
        where: `f.status = ${sqlWords(FIAT_PAYMENT_HELD)}`,
        facts: `jsonb_build_object('unmatched', false, 'orders', cardinality(f.candidate_order_ids))`,
      },
      {
        ...payment,
        where: `f.status = ${sqlWords(FIAT_PAYMENT_RECEIVED)} AND f.settlement_id IS NULL
          AND f.received_at > ${now}::timestamptz - interval '${UNMATCHED_DAYS} days'
          AND EXISTS (SELECT FROM orders o WHERE o.user_id = f.user_id AND o.status IN (${AWAITING_DEPOSIT})
                         AND o.fiat_currency = f.currency AND o.fiat_amount = f.amount
                         AND o.facts->>'fundingSource' = 'own_iban')`,
        facts: `jsonb_build_object('unmatched', true)`,
      },
    ],
    offer: [
      {
        from: 'offers f JOIN vendors v ON v.vendor_id = f.vendor_id',
        where: 'NOT f.authorized AND NOT f.withdrawn',
        id: 'f.offer_id',
        since: 'f.created_at',
        facts: `jsonb_build_object('vendor', v.name, 'side', f.side, 'crypto', f.crypto_currency, 'fiat', f.fiat_currency)`,
      },
    ],
    effect: [
      {
        ...effect,
        where: STUCK_INTENTS,
        since: 'coalesce(i.settled_at, i.created_at)',
        facts: `jsonb_build_object('effect', i.kind, 'status', i.status, 'attempts', i.attempts, 'late', false)`,
      },
      {
        ...effect,
        where: LATE_INTENTS(late),
        since: 'i.run_at',
        facts: `jsonb_build_object('effect', i.kind, 'status', i.status, 'attempts', i.attempts, 'late', true)`,
      },
    ],
    reconciliation: [
      {
        from: 'reconciliation_differences x LEFT JOIN orders o ON o.order_id = x.order_id',
        where: 'true',
        id: 'x.difference_id',
        since: 'x.first_seen_at',
        partner: 'o.partner_id',
        order: 'x.order_id',
        amount: [
          'x.difference',
          'NULL::smallint',
          `CASE WHEN x.difference IS NOT NULL THEN split_part(x.asset, '@', 1) END`,
        ],
        facts: `jsonb_build_object('difference_kind', x.kind, 'asset', x.asset, 'about', x.about)`,
      },
    ],
  };
}
