import { Type } from 'typebox';
import { SCREENING_STATUSES } from '../machines/index.ts';
import { constants, literals, Timestamp, Uuid } from './common.ts';
import { Reason, TextMap } from './operator.ts';
import { OffsetPage, PageQuery } from './paging.ts';
import { ScreeningStatusSchema } from './recipient.ts';
import { KycStatusSchema } from './user.ts';

/** KYC reviews, screening and erasure, as an operator decides them. */

export const KYC_DECISIONS = ['approve', 'reject', 'request_resubmission'] as const;
export type KycDecision = (typeof KYC_DECISIONS)[number];

export const SCREENING_DECISIONS = ['clear', 'block', 'review', 'rescreen'] as const;
export type ScreeningDecision = (typeof SCREENING_DECISIONS)[number];

export const KycReviewListSchema = Type.Object({
  reviews: Type.Array(
    Type.Object({
      user_id: Uuid,
      partner_id: Uuid,
      kyc_status: KycStatusSchema,
      waiting_since: Timestamp,
      documents: Type.Array(
        Type.Object({ document_id: Uuid, document_type: Type.String(), content_type: Type.String() }),
      ),
    }),
  ),
  pagination: OffsetPage,
});

export const KycDecisionInput = Type.Object({
  decision: constants(KYC_DECISIONS),
  rejection_reasons: Type.Optional(
    Type.Array(Type.String({ pattern: '^[A-Z0-9_]{1,64}$' }), { minItems: 1, maxItems: 20 }),
  ),
  reason: Reason,
});

export const KycDecisionSchema = Type.Object({
  user_id: Uuid,
  kyc_status: KycStatusSchema,
  updated_at: Timestamp,
});

export const RevealedUserSchema = Type.Object({
  user_id: Uuid,
  profile: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()])),
  kyc: TextMap,
  payment_details: Type.Array(Type.Object({ id: Type.Integer(), rail: Type.String(), details: TextMap })),
});

export const RevealedDocumentSchema = Type.Object({
  content_type: Type.String({ examples: ['image/png'] }),
  content: Type.String({ description: 'Base64' }),
});

export const ErasedUserSchema = Type.Object({ user_id: Uuid, documents: Type.Integer() });

export const ScreeningHitSchema = Type.Object({
  entry_id: Type.String(),
  listed_name: Type.String(),
  score: Type.Number({ description: 'Similarity from 0 to 100' }),
});

export const ScreeningReviewListSchema = Type.Object({
  reviews: Type.Array(
    Type.Object({
      recipient_id: Uuid,
      partner_id: Uuid,
      recipient_kind: Type.String(),
      recipient_name_masked: Type.String(),
      recipient_country: Type.String(),
      version: Type.Integer(),
      screening_status: ScreeningStatusSchema,
      waiting_since: Timestamp,
      list_version: Type.Union([Type.String(), Type.Null()]),
      hits: Type.Array(ScreeningHitSchema),
    }),
  ),
  pagination: OffsetPage,
});

export const RecipientDecisionInput = Type.Object({
  decision: constants(SCREENING_DECISIONS),
  reason: Reason,
});

export const RecipientDecisionSchema = Type.Object({
  recipient_id: Uuid,
  screening_status: ScreeningStatusSchema,
});

export const RevealedRecipientSchema = Type.Object({
  recipient_id: Uuid,
  recipient: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()])),
  destinations: Type.Array(Type.Object({ id: Uuid, rail: Type.String(), details: TextMap })),
});

export const ErasedRecipientSchema = Type.Object({ recipient_id: Uuid });

const SCREENED_SUBJECTS = ['destination', 'payment_details', 'wallet'] as const;

const SubjectKind = literals(SCREENED_SUBJECTS);

/** What an operator still has to decide about. */
export const OPEN_SCREENING_STATUSES = SCREENING_STATUSES.filter((status) => status !== 'clear');

export const ScreeningCaseSchema = Type.Object({
  case_id: Uuid,
  partner_id: Type.Union([Uuid, Type.Null()], { description: 'Null for a wallet' }),
  subject_kind: SubjectKind,
  subject: Type.String({
    description: 'The wallet’s address, or the id of the destination or payment details',
  }),
  screening_status: ScreeningStatusSchema,
  decided_by_person: Type.Boolean(),
  list_version: Type.Union([Type.String(), Type.Null()]),
  listed: Type.Array(Type.String(), { description: 'The lists or categories that name a wallet' }),
  hits: Type.Array(ScreeningHitSchema, { description: 'Listed names that an account holder resembles' }),
  waiting_since: Timestamp,
});

export const ScreeningCaseQuery = Type.Object({
  ...PageQuery.properties,
  status: Type.Optional(
    Type.Unsafe<(typeof OPEN_SCREENING_STATUSES)[number]>({
      type: 'string',
      enum: [...OPEN_SCREENING_STATUSES],
      examples: ['review'],
    }),
  ),
  subject_kind: Type.Optional(
    Type.Unsafe<(typeof SCREENED_SUBJECTS)[number]>({
      type: 'string',
      enum: [...SCREENED_SUBJECTS],
      examples: ['wallet'],
    }),
  ),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 80,
      examples: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
      description:
        'A wallet’s address or an id: its case, even a clear one; the other filters are ignored then',
    }),
  ),
});

export const ScreeningCaseListSchema = Type.Object({
  cases: Type.Array(ScreeningCaseSchema),
  pagination: OffsetPage,
});

export const ScreeningCaseDecisionInput = Type.Object({
  decision: literals(SCREENING_DECISIONS),
  reason: Reason,
});

export const ScreeningCaseDecisionSchema = Type.Object({
  case_id: Uuid,
  screening_status: ScreeningStatusSchema,
});
