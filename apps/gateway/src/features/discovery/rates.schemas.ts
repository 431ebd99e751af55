import { TimestampInput } from '@causeway/protocol';
import { type TSchema, Type } from 'typebox';

/** Wire shapes of the rates endpoints, with examples that a test validates against them. */
const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const AssetCode = (example: string) =>
  Type.String({
    description: 'A fiat currency or USDC, USDT, USDT0; either case',
    pattern: '^[A-Za-z0-9]{3,10}$',
    examples: [example],
  });
const Time = (options: object = {}) =>
  Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'], ...options });
const Decimal = (example: string) => Type.String({ description: 'Decimal string', examples: [example] });

export const RatesQuery = Type.Object({
  base: Type.Optional(AssetCode('USDC')),
  quote: Type.Optional(AssetCode('KES')),
});

const Rate = Type.Object({
  base: Type.String({ examples: ['USDC'] }),
  quote: Type.String({ examples: ['KES'] }),
  rate: Nullable(Type.String({ description: 'What one base costs in quote', examples: ['129.31'] })),
  status: Type.Union(
    ['fresh', 'stale', 'missing', 'guarded'].map((status) => Type.Literal(status)),
    { description: 'Only a fresh rate is priced on', examples: ['fresh'] },
  ),
  as_of: Nullable(Time({ description: 'The oldest observation behind the rate' })),
});

export const Rates = Type.Object(
  { rates: Type.Array(Rate), updated_at: Time() },
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

export const RateHistory = Type.Object(
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

export const Conversion = Type.Object(
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
