import { Type } from 'typebox';
import { KYC_STATUSES, SANDBOX_ORDER_EVENTS } from '../machines/index.ts';
import { AmountInput, EvmAddress, literals, Nullable, NumericId, Timestamp, Uuid } from './common.ts';
import { FiatPaymentSchema } from './fiat-account.ts';
import { NewVendorSchema, VendorInput } from './operator-accounts.ts';
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
  wallet_address: Type.Optional(
    Type.Unsafe<string>({
      ...EvmAddress,
      description: 'The customer’s wallet, which owns a third of the escrow; your own by default',
    }),
  ),
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

export const SandboxClockSchema = Type.Object({
  now: Timestamp,
  offset_seconds: Type.Integer({ description: 'How far the business clock is ahead of the machine’s' }),
});

export const SandboxClockResetSchema = Type.Object({
  ...SandboxClockSchema.properties,
  moved_back_seconds: Type.Integer({ description: 'How far ahead the clock was' }),
  cannot_undo: Type.Array(
    Type.Object({
      what: literals(['orders', 'quotes', 'events']),
      count: Type.Integer({ description: 'How many of yours lie ahead of the clock now' }),
      until: Nullable(Timestamp),
      message: Type.String(),
    }),
    { description: 'What happened in the time that was taken back, and stays' },
  ),
});

export const SandboxFaucetInput = Type.Object({
  chain: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Slug of a chain of the sandbox',
    examples: ['base-mainnet'],
  }),
  token: Type.String({
    minLength: 1,
    maxLength: 20,
    description: 'Symbol of a token, or native for gas',
    examples: ['USDC'],
  }),
  address: Type.String({
    pattern: '^0x[0-9a-fA-F]{40}$',
    description: 'Any wallet; with its EIP-55 checksum or in one case',
    examples: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  }),
  amount: Type.String({
    maxLength: 80,
    description: 'At most 1000000 of a token or 1000 of native, with no more decimals than it has',
    examples: ['250.00'],
  }),
});

export const SandboxFaucetSchema = Type.Object({
  transaction_hash: Type.String({
    description: 'Final on the chain',
    examples: ['0x2f0d1c7a9b3e4d5f60718293a4b5c6d7e8f90123456789abcdef0123456789ab'],
  }),
});

/** In a sandbox a vendor may be made without a wallet: the sandbox then makes one, funds it and acts for the vendor. */
export const SandboxVendorInput = Type.Object({
  ...VendorInput.properties,
  wallet_address: Type.Optional(
    Type.String({
      ...EvmAddress,
      description:
        'Without it the sandbox makes a wallet, funds it and lets the vendor act by itself like its own vendors',
    }),
  ),
});

export const SandboxNewVendorSchema = Type.Object({
  ...NewVendorSchema.properties,
  wallet_private_key: Type.Optional(
    Type.String({ description: 'Of the wallet that the sandbox made; shown this once' }),
  ),
});

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

export const SandboxMailboxQuery = Type.Object({
  email: Type.String({ minLength: 3, maxLength: 320, examples: ['ada@example.com'] }),
});

export const SandboxMailboxSchema = Type.Object({
  messages: Type.Array(
    Type.Object({
      to: Type.String(),
      subject: Type.String(),
      text: Type.String(),
      language: Type.String({ examples: ['en'] }),
      sent_at: Timestamp,
    }),
    { description: 'Newest first, those of a day' },
  ),
});
