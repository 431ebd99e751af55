import { Type } from 'typebox';
import { CHAIN_TRANSACTION_STATUSES } from '../machines/not-machines.ts';
import {
  CountryFilter,
  constants,
  EvmAddress,
  literals,
  Nullable,
  Timestamp,
  TimestampInput,
  Uuid,
} from './common.ts';
import { oneOf, Reason } from './operator.ts';
import { CursorPage, CursorQuery, ListingPageQuery, OffsetPage, PageQuery } from './paging.ts';

/** The audit log, effects, webhook replays and reference records, as an operator reads and changes them. */

export const AuditState = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]);

/** Who did it, by a name that people know. */
export const AuditActor = Type.Object({
  kind: literals(['key', 'user']),
  id: Uuid,
  name: Type.String({
    description: 'The user’s name; the key’s label, or its hint where it has none',
    examples: ['compliance desk'],
  }),
});

export const AuditQuery = Type.Object({
  ...PageQuery.properties,
  subject: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_./-]{1,200}$',
      description: 'A kind with a slash at its end finds everything of the kind',
      examples: ['users/0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
    }),
  ),
  action: Type.Optional(
    Type.String({
      pattern: '^[a-z_.-]{1,80}$',
      description: 'How it begins: `order.hold` finds `order.hold.place` and `order.hold.release`',
      examples: ['order.hold'],
    }),
  ),
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Id of a user or a key, or a part of the user’s name or e-mail, or of the key’s label',
      examples: ['compliance desk'],
    }),
  ),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A part of the reason',
      examples: ['ticket 4711'],
    }),
  ),
  from: Type.Optional(TimestampInput('Inclusive')),
  to: Type.Optional(TimestampInput('Exclusive')),
});

export const AuditListSchema = Type.Object({
  entries: Type.Array(
    Type.Object({
      audit_id: Uuid,
      operator_key_id: Nullable(Uuid),
      operator_user_id: Nullable(Uuid),
      actor: AuditActor,
      action: Type.String(),
      subject: Type.String(),
      reason: Type.String(),
      before: AuditState,
      after: AuditState,
      at: Timestamp,
    }),
  ),
  pagination: OffsetPage,
});

export const EFFECT_STATES = ['failed', 'unknown', 'late'] as const;

export const EffectSchema = Type.Object({
  effect_id: Uuid,
  kind: Type.String({ examples: ['escrow.release'] }),
  meaning: Type.String({
    description: 'What it does; where it is stuck, also what waits for it and where to look',
    examples: ['Pays an escrow out to the buyer.'],
  }),
  status: literals(['prepared', 'submitted', 'unknown', 'confirmed', 'failed']),
  late: Type.Boolean({ description: 'Due for more than two minutes, and not picked up by a worker' }),
  order_id: Type.Union([Uuid, Type.Null()]),
  partner_id: Type.Union([Uuid, Type.Null()]),
  attempts: Type.Integer({ examples: [3] }),
  last_error: Type.Union([Type.String(), Type.Null()], {
    examples: ['no other owner of the escrow has signed'],
  }),
  next_attempt_at: Type.Union([Timestamp, Type.Null()]),
  transaction: Type.Union([
    Type.Object({
      chain_id: Type.Integer({ examples: [8453] }),
      status: literals(CHAIN_TRANSACTION_STATUSES),
      sender: EvmAddress,
      nonce: Type.Integer({ examples: [17] }),
      tx_hashes: Type.Array(Type.String(), {
        description: 'One for each gas price; the chain includes one of them',
      }),
    }),
    Type.Null(),
  ]),
  remedies: Type.Array(literals(['retry', 'give-up']), { description: 'What an operator can do about it' }),
  created_at: Timestamp,
  settled_at: Type.Union([Timestamp, Type.Null()]),
});

export const EffectQuery = Type.Object({
  state: Type.Optional(oneOf(EFFECT_STATES)),
  kind: Type.Optional(Type.String({ pattern: '^[a-z.-]{1,60}$', examples: ['escrow.release'] })),
  order_id: Type.Optional(Uuid),
  partner_id: Type.Optional(Uuid),
  ...CursorQuery.properties,
});

export const EffectListSchema = Type.Object({ effects: Type.Array(EffectSchema), pagination: CursorPage });

export const OperatorReplayInput = Type.Object({ since: TimestampInput('Inclusive'), reason: Reason });

export const REFERENCE_KINDS = [
  'assets',
  'chains',
  'fiat_currencies',
  'countries',
  'institution_types',
  'rails',
  'institutions',
] as const;
export type ReferenceKind = (typeof REFERENCE_KINDS)[number];

const ReferenceKindInput = constants(REFERENCE_KINDS, { examples: ['institutions'] });

const ReferenceRecordId = Type.String({ minLength: 1, maxLength: 120, examples: ['mtn-momo-ghana'] });

const RECORD_DATA = {
  slug: 'mtn-momo-ghana',
  payment_method_id: 1810,
  name: 'MTN MoMo Ghana',
  code: 'MTN',
  institution_type: 'mobile-money',
  countries: ['GH'],
  supported_rails: ['ghana-transfer'],
  live: true,
};

const ReferenceRecordData = Type.Record(Type.String(), Type.Unknown(), {
  description: 'The record, in the form of the data files with snake case names',
  examples: [RECORD_DATA],
});

export const ReferenceRecordSchema = Type.Object(
  {
    kind: Type.String(),
    id: Type.String(),
    data: ReferenceRecordData,
    source: Type.Union([Type.Literal('files'), Type.Literal('operator')], {
      description: 'A record that an operator has changed is no longer updated from the files',
    }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  {
    examples: [
      {
        kind: 'institutions',
        id: 'mtn-momo-ghana',
        data: RECORD_DATA,
        source: 'files',
        updated_at: '2026-01-31T12:00:00.000Z',
      },
    ],
  },
);

export const ReferenceKindParams = Type.Object({ kind: ReferenceKindInput });

export const ReferenceListQuery = Type.Object({
  ...ListingPageQuery.properties,
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 120,
      description: 'A part of id, name or code',
      examples: ['mtn'],
    }),
  ),
  live: Type.Optional(
    Type.Boolean({ description: 'Only what is on, or only what is off', examples: [true] }),
  ),
  rail: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 80,
      description: 'Institutions of this rail',
      examples: ['ghana-transfer'],
    }),
  ),
  country: CountryFilter,
});

/** What switching a record off would reach. */
export const ReferenceUsageSchema = Type.Object({
  kind: Type.String(),
  id: Type.String(),
  live: Type.Boolean(),
  can_be_switched: Type.Boolean({ description: 'Whether a record of this kind has a switch of its own' }),
  rails: Type.Integer({ description: 'Rails that use it', examples: [1] }),
  institutions: Type.Integer({ description: 'Banks and wallets that use it', examples: [34] }),
  offers: Type.Integer({ description: 'Authorized offers that use it', examples: [6] }),
  open_orders: Type.Integer({ description: 'Open orders that use it; they go on', examples: [2] }),
});

export const ReferenceRecordParams = Type.Object({ kind: ReferenceKindInput, id: ReferenceRecordId });

export const ReferenceRecordInput = Type.Object({
  data: ReferenceRecordData,
  reason: Type.String({
    description: 'Kept in the audit log',
    minLength: 1,
    maxLength: 500,
    examples: ['Operator outage announced for the weekend'],
  }),
});

export const ReferenceRecordListSchema = Type.Object({
  records: Type.Array(ReferenceRecordSchema),
  pagination: OffsetPage,
});
