import { type Static, Type } from 'typebox';
import { APPROVAL_STATUSES } from '../machines/not-machines.ts';
import { DecimalString, literals, Nullable, Timestamp, Uuid } from './common.ts';
import { OptionalReason, oneOf } from './operator.ts';
import { OffsetPage, PageQuery } from './paging.ts';

/** Decisions that move much money and wait for a second person. */

export const ApprovalPersonSchema = Type.Object(
  {
    user_id: Nullable(Uuid),
    key_id: Nullable(Uuid),
    name: Type.String({ description: 'Of the user, or the label of the key', examples: ['Olga Operator'] }),
  },
  { description: 'A user of the console, or an API key; the other id is null' },
);

export const ApprovalSchema = Type.Object({
  approval_id: Uuid,
  status: literals(APPROVAL_STATUSES),
  operation: Type.String({
    description: 'The operation id in the API description',
    examples: ['decideOrderDispute'],
  }),
  subject: Type.String({
    description: 'What it is about, as in the audit log',
    examples: ['orders/0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
  }),
  summary: Type.String({
    description: 'What happens when it is approved, in words',
    examples: ['Decide the dispute for the buyer: the escrow of the order is paid out to the buyer.'],
  }),
  amount_usd: Nullable(DecimalString),
  requested_by: ApprovalPersonSchema,
  requested_by_you: Type.Boolean({ description: 'Another person has to approve it; you can withdraw it' }),
  reason: Nullable(Type.String({ description: 'Of the person who asked' })),
  requested_at: Timestamp,
  expires_at: Timestamp,
  decided_by: Nullable(ApprovalPersonSchema),
  decision_reason: Nullable(Type.String()),
  decided_at: Nullable(Timestamp),
  error_code: Nullable(
    Type.String({
      description: 'failed: why it could not be carried out any more',
      examples: ['INVALID_STATUS'],
    }),
  ),
});
export type Approval = Static<typeof ApprovalSchema>;

export const ApprovalDetailSchema = Type.Object({
  ...ApprovalSchema.properties,
  call: Type.Object(
    {
      method: Type.String({ examples: ['POST'] }),
      path: Type.String({
        examples: ['/api/v1/operator/orders/0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10/dispute'],
      }),
      body: Nullable(Type.Record(Type.String(), Type.Unknown())),
    },
    { description: 'The call that waits, as it was made' },
  ),
  payload_hash: Type.String({
    description:
      'SHA-256 over the operation, what the path names and the body without its reason: what both persons have to agree on',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  }),
});

export const ApprovedSchema = Type.Object({
  approval: ApprovalSchema,
  result: Type.Record(Type.String(), Type.Unknown(), {
    description: 'What the call itself answers',
    examples: [{ order_id: '0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10', status: 'dispute_resolved' }],
  }),
});

export const ApprovalQuery = Type.Object({
  ...PageQuery.properties,
  status: Type.Optional(oneOf(APPROVAL_STATUSES)),
  subject: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_./-]{1,200}$',
      examples: ['orders/0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
    }),
  ),
});

export const ApprovalListSchema = Type.Object({
  approvals: Type.Array(ApprovalSchema),
  pagination: OffsetPage,
});

export const ApproveInput = Type.Optional(Type.Union([Type.Object({ reason: OptionalReason }), Type.Null()]));
