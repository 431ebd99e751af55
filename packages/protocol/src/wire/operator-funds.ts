import { Type } from 'typebox';
import { DIFFERENCE_KINDS } from '../console/differences.ts';
import { DEPOSIT_STATUSES, FIAT_PAYMENT_STATUSES } from '../machines/index.ts';
import { DecimalString, EvmAddress, literals, Nullable, Timestamp, Uuid } from './common.ts';
import { DEPOSIT_KINDS, DepositSchema } from './funds.ts';
import { oneOf, Reason } from './operator.ts';
import { GivenSignature, OrderStatusSchema } from './order.ts';
import { OffsetPage, PageQuery } from './paging.ts';

/** Deposits, fiat payments and the books, as an operator reads and decides them. */

export const OperatorDepositSchema = Type.Object({
  ...DepositSchema.properties,
  order_id: Uuid,
  partner_id: Uuid,
  order_status: Type.Unsafe<string>(OrderStatusSchema),
  direction: literals(['onramp', 'offramp']),
  chain: Type.String({ examples: ['base-mainnet'] }),
  escrow_address: EvmAddress,
  expected: Type.Object(
    { token_address: EvmAddress, token: Type.String(), amount: DecimalString, sender: EvmAddress },
    { description: 'What the order awaits' },
  ),
  age_seconds: Type.Integer({ description: 'Since it was seen', examples: [3600] }),
});

export const DepositQuery = Type.Object({
  ...PageQuery.properties,
  status: Type.Optional(oneOf(DEPOSIT_STATUSES)),
  kind: Type.Optional(oneOf(DEPOSIT_KINDS)),
  order_id: Type.Optional(Uuid),
  partner_id: Type.Optional(Uuid),
});

export const OperatorDepositListSchema = Type.Object({
  deposits: Type.Array(OperatorDepositSchema),
  pagination: OffsetPage,
});

export const DEPOSIT_DECISIONS = ['accept', 'return', 'hold', 'dismiss'] as const;
export type DepositDecision = (typeof DEPOSIT_DECISIONS)[number];

export const DepositDecisionInput = Type.Object({
  decision: literals(DEPOSIT_DECISIONS),
  return_to: Type.Optional(
    Type.Unsafe<string>({
      ...EvmAddress,
      description: 'With return only; the payer where it is absent',
    }),
  ),
  reason: Reason,
});

export const DepositDecisionSchema = Type.Object({
  deposit_id: Uuid,
  status: literals(DEPOSIT_STATUSES),
  order_id: Uuid,
  order_status: Type.Unsafe<string>(OrderStatusSchema),
  credited_atomic: Type.String({ examples: ['0'] }),
  return_to: Type.Union([EvmAddress, Type.Null()]),
  return_atomic: Type.Union([Type.String(), Type.Null()]),
});

export const DepositSignatureInput = Type.Object({ signature: GivenSignature, reason: Reason });

const NullableText = Type.Union([Type.String(), Type.Null()]);

export const HeldPaymentSchema = Type.Object({
  payment_id: Uuid,
  partner_id: Uuid,
  user_id: Uuid,
  fiat_account_id: Type.String({ examples: ['retail_42'] }),
  amount: DecimalString,
  currency: Type.String(),
  status: literals(FIAT_PAYMENT_STATUSES),
  order_id: Type.Union([Uuid, Type.Null()]),
  candidate_order_ids: Type.Array(Uuid, { description: 'The orders it could pay' }),
  received_at: Timestamp,
});

export const HeldPaymentListSchema = Type.Object({
  payments: Type.Array(HeldPaymentSchema),
  pagination: OffsetPage,
});

export const FiatPaymentDecisionInput = Type.Object({
  decision: literals(['match', 'leave']),
  order_id: Type.Optional(Uuid),
  reason: Reason,
});

export const RevealedFiatPaymentSchema = Type.Object({
  payment_id: Uuid,
  sender_name: NullableText,
  reference: NullableText,
});

export const RECONCILIATION_VERDICTS = ['equal', 'in_flight', 'different', 'unreachable'] as const;
export type ReconciliationVerdict = (typeof RECONCILIATION_VERDICTS)[number];

export const EscrowComparisonSchema = Type.Object({
  order_id: Uuid,
  partner_id: Uuid,
  status: Type.Unsafe<string>(OrderStatusSchema),
  escrow_address: EvmAddress,
  escrow_state: literals(['none', 'funded', 'releasing', 'refunding', 'emptied']),
  asset: Type.String({ examples: ['USDC@base-mainnet'] }),
  booked: DecimalString,
  on_chain: Type.Union([DecimalString, Type.Null()]),
  difference: Type.Union([DecimalString, Type.Null()], { description: 'On chain less booked' }),
  verdict: literals(RECONCILIATION_VERDICTS),
});

export const ReconciliationQuery = Type.Object({
  scope: Type.Optional(
    Type.Unsafe<'open' | 'all'>({
      ...oneOf(['open', 'all']),
      default: 'open',
      description: 'open: escrows that hold or await something. all: every escrow',
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 200, examples: [200] }),
  cursor: Type.Optional(Uuid),
});

export const DifferenceSchema = Type.Object({
  difference_id: Uuid,
  kind: literals(DIFFERENCE_KINDS),
  order_id: Nullable(Uuid),
  about: Nullable(
    Type.String({
      description:
        'What differs, beside the order: the kind of an entry or an effect, an event, an account, a transfer',
      examples: ['escrow_released'],
    }),
  ),
  asset: Nullable(Type.String({ examples: ['USDC@base-mainnet'] })),
  escrow_address: Nullable(Type.String()),
  expected: Type.String({
    description: 'What there should be: an amount where one differs, words elsewhere',
    examples: ['115.198178'],
  }),
  found: Type.String({ description: 'What there is', examples: ['115.198183'] }),
  difference: Nullable(
    Type.Unsafe<string>({ ...DecimalString, description: 'Found less expected, where an amount differs' }),
  ),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
});

export const ReconciliationSchema = Type.Object({
  differences: Type.Array(DifferenceSchema, {
    description: 'What the worker’s own reconciliation found and still finds, oldest first, 500 at most',
  }),
  last_run: Type.Object(
    {
      finished_at: Nullable(Timestamp),
      checked: Type.Integer({ examples: [420] }),
      different: Type.Integer({ examples: [0] }),
      unreachable: Type.Integer({ examples: [0] }),
    },
    { description: 'Of the worker. A run looks at so many rows, and the next goes on' },
  ),
  books: Type.Array(
    Type.Object({
      asset: Type.String({ examples: ['USDC@base-mainnet'] }),
      sum: Type.String({ description: 'Atomic units', examples: ['0'] }),
      balanced: Type.Boolean(),
    }),
  ),
  escrows: Type.Object({
    checked: Type.Integer({ examples: [42] }),
    equal: Type.Integer({ examples: [41] }),
    in_flight: Type.Array(EscrowComparisonSchema),
    different: Type.Array(EscrowComparisonSchema),
    unreachable: Type.Array(EscrowComparisonSchema),
  }),
  next_cursor: Type.Union([Uuid, Type.Null()], { description: 'Null on the last page' }),
});
