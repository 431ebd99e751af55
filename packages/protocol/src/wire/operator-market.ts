import { Type } from 'typebox';
import { DecimalString, EvmAddress, literals, Nullable, Timestamp } from './common.ts';

/** Rates in use and the wallets that pay for transactions, as an operator watches them. */

export const OperatorRateListSchema = Type.Object({
  rates: Type.Array(
    Type.Object({
      base: Type.String({ examples: ['USDC'] }),
      quote: Type.String({ examples: ['USD'] }),
      rate: Nullable(DecimalString),
      status: literals(['fresh', 'stale', 'missing', 'guarded']),
      sources: Type.Array(Type.String(), {
        description: 'Where it was observed; empty once nothing recent is left',
        examples: [['ecb']],
      }),
      as_of: Nullable(Timestamp),
      age_seconds: Nullable(Type.Integer({ examples: [12] })),
      stale_after_seconds: Nullable(
        Type.Integer({
          description: 'How old it may become; null where a remote backend decides that',
          examples: [120],
        }),
      ),
    }),
  ),
  updated_at: Type.Unsafe<string>({ ...Timestamp, description: 'When the rates were last published' }),
  publication_age_seconds: Type.Integer({ examples: [3] }),
  publication_stale_after_seconds: Type.Integer({
    description: 'Nothing is priced on a publication that is older',
    examples: [60],
  }),
});

const PendingTransaction = Type.Object({
  nonce: Type.Integer({ examples: [17] }),
  tx_hash: Nullable(Type.String({ description: 'Of the version that was signed last' })),
  versions: Type.Integer({ description: 'How often it was signed, each time for more gas', examples: [1] }),
  created_at: Timestamp,
  age_seconds: Type.Integer({ examples: [9] }),
});

export const HotWalletSchema = Type.Object({
  chain: Type.String({ examples: ['base-mainnet'] }),
  chain_id: Type.Integer({ examples: [8453] }),
  address: EvmAddress,
  explorer_url: Nullable(Type.String({ description: 'The wallet at a block explorer' })),
  state: literals(['ok', 'low', 'unknown']),
  says: Type.String({
    description: 'The state in words, and what to do',
    examples: ['Enough for about 400 orders.'],
  }),
  currency: Type.String({ description: 'The chain’s own coin, which pays for gas', examples: ['ETH'] }),
  balance: Nullable(DecimalString),
  minimum_balance: DecimalString,
  tokens: Type.Array(
    Type.Object({
      code: Type.String({ examples: ['USDC'] }),
      address: EvmAddress,
      balance: Nullable(DecimalString),
    }),
  ),
  gas_price_gwei: Nullable(DecimalString),
  gas_per_order: Type.Object(
    {
      gas: Type.Integer({ examples: [640000] }),
      cost: Nullable(DecimalString),
      measured_orders: Type.Integer({
        description: 'Orders that it was measured on; 0: the value that a new deployment starts with',
        examples: [50],
      }),
    },
    { description: 'What an order’s transactions reserve, at the gas price of now' },
  ),
  orders_left: Nullable(
    Type.Integer({ description: 'How many orders the balance pays for', examples: [400] }),
  ),
  next_nonce: Type.Integer({ description: 'That the service takes next', examples: [18] }),
  chain_nonce: Nullable(Type.Integer({ description: 'That the chain expects next', examples: [17] })),
  pending: Type.Array(PendingTransaction, { description: 'Sent and not final yet, lowest nonce first' }),
  read_at: Nullable(
    Type.Unsafe<string>({ ...Timestamp, description: 'When a node last answered; null: none has yet' }),
  ),
  age_seconds: Nullable(Type.Integer({ examples: [0] })),
  reachable: Type.Boolean({ description: 'False: the figures are those of read_at' }),
});

export const HotWalletListSchema = Type.Object({ wallets: Type.Array(HotWalletSchema) });
