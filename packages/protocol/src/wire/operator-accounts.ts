import { Type } from 'typebox';
import { EvmAddress, literals, PercentInput, SlugInput, Timestamp, Uuid } from './common.ts';
import { OptionalReason, Reason } from './operator.ts';
import { OffsetPage } from './paging.ts';

/** Keys, partners and vendors as an operator manages them. */

/** A character of one line: no control, and no half of a surrogate pair, which no JSON document in the database can hold. */
const LINE = '[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]';

export const AccountName = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: `^(?! )${LINE}*(?<! )$`,
  description: 'Unique; no space at either end',
  examples: ['Acme Payments'],
});

export const KeyLabel = Type.String({
  maxLength: 200,
  pattern: `^${LINE}*$`,
  description: 'What the key is for',
  examples: ['production servers'],
});

const KeyKind = literals(['secret', 'widget', 'vendor', 'operator']);

const describedKey = {
  key_id: Uuid,
  kind: KeyKind,
  hint: Type.String({
    description: 'Enough to recognise the key by, too little to use it',
    examples: ['cw_test_…x4Qz'],
  }),
  label: Type.String(),
  created_at: Timestamp,
};

export const KeySchema = Type.Object({
  ...describedKey,
  revoked_at: Type.Union([Timestamp, Type.Null()]),
});

export const NewKeySchema = Type.Object({
  ...describedKey,
  key: Type.String({ description: 'Shown this once; only its hash is kept' }),
});

export const ListedKeySchema = Type.Object({
  ...KeySchema.properties,
  status: literals(['live', 'ending', 'ended', 'revoked']),
  ends_at: Type.Union([Timestamp, Type.Null()], {
    description: 'When a rolled key stops working',
  }),
  replaced_by: Type.Union([Uuid, Type.Null()], {
    description: 'The key that took its place when it was rolled',
  }),
  last_used_at: Type.Union([Timestamp, Type.Null()], {
    description: 'Not counted for keys of operators: what they do is in the audit',
  }),
});

export const KeyListSchema = Type.Object({ keys: Type.Array(ListedKeySchema), pagination: OffsetPage });

export const KeyInput = Type.Object({ label: Type.Optional(KeyLabel), reason: OptionalReason });

export const PartnerKeyInput = Type.Object({ kind: literals(['secret', 'widget']), ...KeyInput.properties });

export const KeyRevocationQuery = Type.Object({ reason: OptionalReason });

/** Null: the deployment's own limit holds. */
const limitOf = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000_000 }), Type.Null()], { description });

const partnerLimits = {
  open_order_limit: limitOf('Orders that may be open at a time; null: the deployment’s own limit'),
  held_value_limit: limitOf('Whole dollars that open orders may be worth together; null likewise'),
  customer_open_order_limit: limitOf('Orders that one customer may have open; null likewise'),
  customer_held_value_limit: limitOf(
    'Whole dollars that one customer’s open orders may be worth; null likewise',
  ),
};

export const PartnerSchema = Type.Object({
  partner_id: Uuid,
  name: Type.String(),
  settlement_chain: Type.String(),
  wallet_address: EvmAddress,
  platform_fee_pct: Type.String({ description: 'Percent, as decimal text', examples: ['0.5'] }),
  fiat_accounts_enabled: Type.Boolean(),
  collection_enabled: Type.Boolean({
    description: 'Deposits that match no order go to the partner’s master account',
  }),
  ...partnerLimits,
  deployment_limits: Type.Object(
    {
      open_order_limit: Type.Integer({ examples: [1_000] }),
      held_value_limit: Type.Integer({ examples: [1_000_000] }),
      customer_open_order_limit: Type.Integer({ examples: [100] }),
      customer_held_value_limit: Type.Integer({ examples: [250_000] }),
    },
    { description: 'What holds where the partner has no limit of its own' },
  ),
  created_at: Timestamp,
});

export const PartnerInput = Type.Object({
  name: AccountName,
  settlement_chain: SlugInput,
  wallet_address: EvmAddress,
  platform_fee_pct: Type.Optional(PercentInput),
  fiat_accounts_enabled: Type.Optional(Type.Boolean({ default: false })),
  collection_enabled: Type.Optional(Type.Boolean({ default: false })),
  reason: OptionalReason,
});

export const PartnerPatchInput = Type.Object({
  name: Type.Optional(AccountName),
  wallet_address: Type.Optional(EvmAddress),
  platform_fee_pct: Type.Optional(PercentInput),
  fiat_accounts_enabled: Type.Optional(Type.Boolean()),
  collection_enabled: Type.Optional(Type.Boolean()),
  ...Type.Partial(Type.Object(partnerLimits)).properties,
  reason: Reason,
});

export const NewPartnerSchema = Type.Object({
  partner: PartnerSchema,
  secret_key: NewKeySchema,
  widget_key: NewKeySchema,
  webhook_secret: Type.String({ description: 'Signs the partner’s webhooks; shown this once' }),
});

export const PartnerListSchema = Type.Object({ partners: Type.Array(PartnerSchema), pagination: OffsetPage });

const VendorKind = literals(['p2p', 'direct']);

export const VendorSchema = Type.Object({
  vendor_id: Uuid,
  name: Type.String(),
  wallet_address: EvmAddress,
  kind: VendorKind,
  active: Type.Boolean({ description: 'Set by operators: an inactive vendor gets no new orders' }),
  online: Type.Boolean({ description: 'Set by the vendor' }),
  reputation: Type.Object(
    {
      completed_orders: Type.Integer({ examples: [112] }),
      failed_orders: Type.Integer({ description: 'Cancelled by the vendor’s own delay', examples: [1] }),
      disputed_orders: Type.Integer({ examples: [0] }),
    },
    { description: 'Decides with the price whose offer is taken' },
  ),
  created_at: Timestamp,
});

export const VendorInput = Type.Object({
  name: AccountName,
  wallet_address: EvmAddress,
  kind: VendorKind,
  reason: OptionalReason,
});

export const VendorPatchInput = Type.Object({ active: Type.Boolean(), reason: Reason });

export const NewVendorSchema = Type.Object({ vendor: VendorSchema, vendor_key: NewKeySchema });

export const VendorListSchema = Type.Object({ vendors: Type.Array(VendorSchema), pagination: OffsetPage });
