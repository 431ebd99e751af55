import { Type } from 'typebox';
import { QUEUE_KINDS } from '../console/queue.ts';
import { DecimalString, literals, Nullable, Timestamp, Uuid } from './common.ts';
import { ReviewedOfferSchema } from './offer.ts';
import { oneOf, Reason } from './operator.ts';
import {
  KycReviewListSchema,
  ScreeningCaseSchema,
  ScreeningReviewListSchema,
} from './operator-compliance.ts';
import {
  DifferenceSchema,
  HeldPaymentSchema,
  OperatorDepositSchema,
  RECONCILIATION_VERDICTS,
} from './operator-funds.ts';
import { EffectSchema } from './operator-system.ts';

/** One list of what waits for a person. */

const Kind = oneOf(QUEUE_KINDS);

export const QueueCaseSchema = Type.Object({
  kind: literals(QUEUE_KINDS),
  subject_id: Type.Unsafe<string>({
    ...Uuid,
    description:
      'Of the customer (kyc), the proof, the order (hold, dispute, overdue_confirmation), the recipient, the screening case, the deposit, the fiat payment, the offer, the effect or the difference',
  }),
  order_id: Nullable(Uuid),
  partner_id: Nullable(Uuid),
  says: Type.String({
    description: 'What it is about, in a sentence',
    examples: ['The documents of a customer wait for a review.'],
  }),
  amount: Nullable(DecimalString),
  currency: Nullable(Type.String({ examples: ['USDC'] })),
  created_at: Type.Unsafe<string>({ ...Timestamp, description: 'Since when it waits' }),
  due_at: Type.Unsafe<string>({ ...Timestamp, description: 'When it should be decided' }),
  overdue: Type.Boolean(),
  assignee: Nullable(
    Type.Object({
      id: Type.Unsafe<string>({ ...Uuid, description: 'A user of the console, or an API key' }),
      name: Type.String({ examples: ['Olga Operator'] }),
      until: Type.Unsafe<string>({ ...Timestamp, description: 'When the claim ends by itself' }),
    }),
  ),
  snoozed: Nullable(
    Type.Object({
      until: Timestamp,
      reason: Type.String({ examples: ['The bank answers tomorrow'] }),
    }),
  ),
});

export const QueueQuery = Type.Object({
  kind: Type.Optional(
    Type.Array(Kind, { maxItems: QUEUE_KINDS.length, description: 'May be repeated', examples: [['kyc']] }),
  ),
  assignee: Type.Optional(
    Type.Unsafe<'me' | 'none'>({
      ...oneOf(['me', 'none']),
      description: 'me: claimed by the caller; none: claimed by no one',
    }),
  ),
  overdue: Type.Optional(Type.Boolean({ examples: [true] })),
  snoozed: Type.Optional(
    Type.Boolean({ description: 'Those that are put off, which are left out otherwise', examples: [false] }),
  ),
  partner_id: Type.Optional(Uuid),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, examples: [20] }),
  cursor: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,17}_[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
      description: 'next_cursor of the page before',
      examples: ['1763290800000000_0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
    }),
  ),
});

export const QueueListSchema = Type.Object({
  cases: Type.Array(QueueCaseSchema),
  as_of: Type.Unsafe<string>({ ...Timestamp, description: 'The time that overdue was told by' }),
  pagination: Type.Object({
    limit: Type.Integer({ examples: [20] }),
    next_cursor: Nullable(Type.String()),
  }),
});

const Count = Type.Integer({ examples: [1] });

export const QueueCountsQuery = Type.Object({ partner_id: Type.Optional(Uuid) });

export const QueueCountsSchema = Type.Object({
  waiting: Count,
  overdue: Count,
  mine: Count,
  unassigned: Count,
  snoozed: Count,
  kinds: Type.Array(Type.Object({ kind: literals(QUEUE_KINDS), waiting: Count, overdue: Count })),
});

export const QueueCaseParams = Type.Object({ kind: Kind, subject_id: Uuid });

/** A case with what the decision needs; an order’s own is in GET /operator/orders/{order_id}. */
export const QueueCaseDetailSchema = Type.Object({
  ...QueueCaseSchema.properties,
  kyc: Nullable(KycReviewListSchema.properties.reviews.items),
  recipient: Nullable(ScreeningReviewListSchema.properties.reviews.items),
  screening_case: Nullable(ScreeningCaseSchema),
  deposit: Nullable(OperatorDepositSchema),
  fiat_payment: Nullable(HeldPaymentSchema),
  offer: Nullable(ReviewedOfferSchema),
  effect: Nullable(EffectSchema),
  difference: Nullable(DifferenceSchema),
});

export const QueueSnoozeInput = Type.Object({
  minutes: Type.Integer({
    minimum: 0,
    maximum: 10_080,
    description: 'From now; 0 brings the case back at once',
    examples: [60],
  }),
  reason: Reason,
});

export const DifferenceParams = Type.Object({ difference_id: Uuid });

export const EscrowSearchSchema = Type.Object({
  difference_id: Uuid,
  escrow_address: Type.String({ examples: ['0x5FbDB2315678afecb367f032d93F642f64180aa3'] }),
  searched_since: Type.Unsafe<string>({
    ...Timestamp,
    description: 'Blocks since then are searched: when the order was opened',
  }),
});

export const DifferenceCheckSchema = Type.Object({
  difference_id: Uuid,
  verdict: literals(RECONCILIATION_VERDICTS),
});
