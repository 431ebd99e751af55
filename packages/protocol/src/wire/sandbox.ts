import { Type } from 'typebox';
import { KYC_STATUSES, SANDBOX_ORDER_EVENTS } from '../machines/index.ts';
import { AmountInput, literals, NumericId, Timestamp, Uuid } from './common.ts';
import { FiatPaymentSchema } from './fiat-account.ts';
import { ScreeningStatusSchema } from './recipient.ts';
import { KycStatusSchema } from './user.ts';

/** What only sandbox deployments offer. */

const MAX_ADVANCE_SECONDS = 366 * 24 * 60 * 60;

const SandboxText = Type.Optional(Type.String({ maxLength: 100 }));

export const SandboxWidgetOrderInput = Type.Object({
  order_type: literals(['onramp', 'offramp']),
  user_uuid: Type.Optional(Uuid),
  crypto_currency: SandboxText,
  fiat_currency: SandboxText,
  fiat_amount: SandboxText,
  crypto_amount: SandboxText,
  payment_details_id: Type.Optional(NumericId),
  reference_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
});

export const SandboxSettingsSchema = Type.Object({ auto_advance: Type.Boolean() });

export const SandboxOrderEventInput = Type.Object({
  event: literals(SANDBOX_ORDER_EVENTS),
  cost_multiplier: Type.Optional(
    Type.Union([Type.String({ maxLength: 40 }), Type.Number({ minimum: 0, maximum: 999_999_999 })], {
      description: 'With reprice: the payout’s cost now as a multiple of the expected cost',
      examples: ['1.25'],
    }),
  ),
});

export const SandboxKycStatusInput = Type.Object({
  status: literals(KYC_STATUSES),
  rejection_reasons: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 20 })),
});

export const SandboxKycStatusSchema = Type.Object({ status: KycStatusSchema, updated_at: Timestamp });

export const SandboxScreeningStatusInput = Type.Object({ screening_status: ScreeningStatusSchema });

export const SandboxClockInput = Type.Object({
  seconds: Type.Integer({ minimum: 1, maximum: MAX_ADVANCE_SECONDS }),
});

export const SandboxClockSchema = Type.Object({ now: Timestamp, offset_seconds: Type.Integer() });

const DepositText = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]+$' });

export const SandboxDepositInput = Type.Object({
  amount: AmountInput,
  sender_name: Type.Optional(DepositText(140)),
  reference: Type.Optional(DepositText(140)),
  transaction_id: Type.Optional(DepositText(100)),
});

export const SandboxDepositSchema = Type.Object({
  ...FiatPaymentSchema.properties,
  user_id: Uuid,
  fiat_account_id: Type.String({ examples: ['retail_42'] }),
});
