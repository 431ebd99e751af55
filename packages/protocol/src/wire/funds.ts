import { Type } from 'typebox';
import { ACTORS, DEPOSIT_STATUSES, ORDER_TRIGGERS } from '../machines/index.ts';
import { DecimalString, EvmAddress, literals, Timestamp, Uuid } from './common.ts';
import { OrderStatusSchema } from './order.ts';

/** The escrow’s address follows from them and the order, so that a wallet can check where it pays. */
export const EscrowOwnersSchema = Type.Object(
  { service: EvmAddress, seller: EvmAddress, buyer: EvmAddress },
  { description: 'The keys of the escrow; any two of them move what is in it' },
);

/** What an order waits for, and from whom. */
export const OrderStepSchema = Type.Object({
  actor: literals(ACTORS),
  /** What has to happen, as the state tables name it. */
  fact: literals(ORDER_TRIGGERS),
});

export const DEPOSIT_KINDS = ['exact', 'short', 'excess', 'double', 'wrong_token', 'foreign_sender'] as const;

const TokenCode = Type.Union([Type.String(), Type.Null()], {
  description: 'Null for a token that the chain is not configured for',
  examples: ['USDC'],
});
const TokenAmount = Type.Union([DecimalString, Type.Null()], {
  description: 'Null where the token’s decimals are not known',
});

/** One payment into an order's escrow. */
export const DepositSchema = Type.Object({
  deposit_id: Uuid,
  status: literals(DEPOSIT_STATUSES),
  says: Type.String({
    description: 'What the status means',
    examples: ['An operator decides what becomes of it.'],
  }),
  kind: literals(DEPOSIT_KINDS),
  note: Type.String(),
  tx_hash: Type.String(),
  block_number: Type.String(),
  sender: EvmAddress,
  token_address: EvmAddress,
  token: TokenCode,
  amount: TokenAmount,
  amount_atomic: Type.String(),
  credited_atomic: Type.String({ description: 'How much of it the order has', examples: ['0'] }),
  return: Type.Union([
    Type.Object({
      recipient_address: EvmAddress,
      amount: TokenAmount,
      amount_atomic: Type.String(),
      waiting_for: Type.Union([literals(['order', 'signature', 'chain']), Type.Null()], {
        description:
          'order: its own payout or its end comes first. signature: an owner of the escrow has to sign. chain: it is on its way',
      }),
      tx_hash: Type.Union([Type.String(), Type.Null()]),
    }),
    Type.Null(),
  ]),
  observed_at: Timestamp,
});

/** Where the money of an order is, for support staff. */
export const OrderFundsSchema = Type.Object({
  order_id: Uuid,
  status: OrderStatusSchema,
  summary: Type.String({ description: 'One sentence for support staff' }),
  crypto_currency: Type.String(),
  chain: Type.String(),
  held_for_review: Type.Boolean(),
  escrow: Type.Union([
    Type.Object({
      address: EvmAddress,
      state: literals(['none', 'funded', 'releasing', 'refunding', 'emptied']),
      expected_amount: DecimalString,
      booked_amount: DecimalString,
      balance_on_chain: Type.Union([DecimalString, Type.Null()], {
        description: 'Read from the chain now; null while no node answers',
      }),
      balances: Type.Array(
        Type.Object({
          token_address: Type.Union([EvmAddress, Type.Null()], {
            description: 'Null for the chain’s own coin',
          }),
          token: TokenCode,
          amount: TokenAmount,
          amount_atomic: Type.String(),
        }),
        { description: 'Balances of all tokens in the escrow; empty while no node answers' },
      ),
      held_amount: DecimalString,
      owners: EscrowOwnersSchema,
    }),
    Type.Null(),
  ]),
  deposits: Type.Array(DepositSchema, { description: 'All final payments into the escrow' }),
  movements: Type.Array(
    Type.Object({
      kind: Type.String(),
      at: Timestamp,
      postings: Type.Array(
        Type.Object({
          account: Type.String(),
          asset: Type.String(),
          amount: Type.String({ description: 'Negative where the account then holds less' }),
        }),
      ),
    }),
  ),
  waiting_for: Type.Union([OrderStepSchema, Type.Null()]),
  deadline_at: Type.Union([Timestamp, Type.Null()]),
  who_can_move_it: Type.Array(OrderStepSchema),
});

export const DepositStateSchema = Type.Object({ deposit_id: Uuid, status: literals(DEPOSIT_STATUSES) });
