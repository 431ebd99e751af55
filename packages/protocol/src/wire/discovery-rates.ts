import { Type } from 'typebox';
import { constants, literals, Nullable, TimestampInput } from './common.ts';

/** Market rates, conversions, corridors and liquidity; the examples are validated by a test. */

const AssetCode = (example: string) =>
  Type.String({
    description: 'A fiat currency or USDC, USDT, USDT0; either case',
    pattern: '^[A-Za-z0-9]{3,10}$',
    examples: [example],
  });

const Time = (options: object = {}) =>
  Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'], ...options });

const Decimal = (example: string) => Type.String({ description: 'Decimal string', examples: [example] });

export const RateQuery = Type.Object({
  base: Type.Optional(AssetCode('USDC')),
  quote: Type.Optional(AssetCode('KES')),
});

const RATE_STATUSES = ['fresh', 'stale', 'missing', 'guarded'] as const;

const RateSchema = Type.Object({
  base: Type.String({ examples: ['USDC'] }),
  quote: Type.String({ examples: ['KES'] }),
  rate: Nullable(Type.String({ description: 'What one base costs in quote', examples: ['129.31'] })),
  status: constants(RATE_STATUSES, { description: 'Only a fresh rate is priced on', examples: ['fresh'] }),
  as_of: Nullable(Time({ description: 'The oldest observation behind the rate' })),
});

export const RateListSchema = Type.Object(
  { rates: Type.Array(RateSchema), updated_at: Time() },
  {
    examples: [
      {
        rates: [
          {
            base: 'USDC',
            quote: 'KES',
            rate: '129.31',
            status: 'fresh',
            as_of: '2026-01-31T12:00:00.000Z',
          },
        ],
        updated_at: '2026-01-31T12:00:01.000Z',
      },
    ],
  },
);

export const RateHistoryQuery = Type.Object({
  base: AssetCode('USDC'),
  quote: AssetCode('KES'),
  from: Type.Optional(TimestampInput('24 hours before `to` when not sent')),
  to: Type.Optional(TimestampInput('Now when not sent')),
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100, examples: [100] }),
});

export const RateHistorySchema = Type.Object(
  {
    base: Type.String({ examples: ['USDC'] }),
    quote: Type.String({ examples: ['KES'] }),
    from: Time(),
    to: Time(),
    points: Type.Array(Type.Object({ at: Time(), rate: Decimal('129.31') }), {
      description: 'The newest `limit` points of the time asked for, oldest first',
    }),
  },
  {
    examples: [
      {
        base: 'USDC',
        quote: 'KES',
        from: '2026-01-30T12:00:00.000Z',
        to: '2026-01-31T12:00:00.000Z',
        points: [{ at: '2026-01-31T11:00:00.000Z', rate: '129.31' }],
      },
    ],
  },
);

export const ConvertQuery = Type.Object({
  from: AssetCode('KES'),
  to: AssetCode('USDC'),
  amount: Type.String({
    description: 'Decimal string, with no more decimals than the currency has',
    minLength: 1,
    maxLength: 72,
    examples: ['1000.00'],
  }),
});

export const ConversionSchema = Type.Object(
  {
    from: Type.String({ examples: ['KES'] }),
    to: Type.String({ examples: ['USDC'] }),
    amount: Decimal('1000.00'),
    converted_amount: Type.String({
      description: 'amount * rate, rounded down to the decimals of `to`',
      examples: ['7.733354'],
    }),
    rate: Type.String({
      description: 'Market rate, without spread or fees',
      examples: ['0.00773335395561054'],
    }),
    as_of: Time(),
  },
  {
    examples: [
      {
        from: 'KES',
        to: 'USDC',
        amount: '1000.00',
        converted_amount: '7.733353',
        rate: '0.00773335395561054',
        as_of: '2026-01-31T12:00:00.000Z',
      },
    ],
  },
);

const CorridorSide = Nullable(
  Type.Object({
    rate: Type.String({
      description: 'Fiat for one unit of crypto as the customer gets it, spread included',
      examples: ['16.36'],
    }),
    spread_pct: Type.Number({ description: 'Part of the rate, around the market', examples: [1.25] }),
  }),
);

export const CorridorListSchema = Type.Object(
  {
    corridors: Type.Array(
      Type.Object({
        crypto_currency: Type.String({ examples: ['USDC'] }),
        fiat_currency: Type.String({ examples: ['GHS'] }),
        country: Type.String({ examples: ['GH'] }),
        rails: Type.Array(Type.String(), { examples: [['ghana-transfer']] }),
        onramp: CorridorSide,
        offramp: CorridorSide,
        updated_at: Nullable(
          Type.String({
            format: 'date-time',
            description: 'When the market was observed; null before the first observation',
            examples: ['2026-01-31T12:00:00.000Z'],
          }),
        ),
      }),
    ),
  },
  {
    examples: [
      {
        corridors: [
          {
            crypto_currency: 'USDC',
            fiat_currency: 'GHS',
            country: 'GH',
            rails: ['ghana-transfer'],
            onramp: { rate: '16.8', spread_pct: 1.5 },
            offramp: { rate: '16.36', spread_pct: 1.25 },
            updated_at: '2026-01-31T12:00:00.000Z',
          },
        ],
      },
    ],
  },
);

export const LiquidityPairSchema = Type.Object({
  crypto_currency_code: Type.String({ examples: ['USDC'] }),
  fiat_currency_code: Type.String({ examples: ['EUR'] }),
  trade_type: literals(['BUY', 'SELL']),
  min_amount: Type.Number({ description: 'Smallest order, in the fiat currency' }),
  max_amount: Type.Number({ description: 'Largest order, in the fiat currency' }),
  min_amount_usd: Type.Number({ description: 'min_amount in US dollars' }),
  max_amount_usd: Type.Number({ description: 'max_amount in US dollars' }),
  payment_methods: Type.Array(Type.String(), { description: 'Slugs, sorted' }),
});

export const LiquiditySchema = Type.Object({ pairs: Type.Array(LiquidityPairSchema) });
