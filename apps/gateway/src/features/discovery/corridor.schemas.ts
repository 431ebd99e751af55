import { Type } from 'typebox';
import { Nullable } from './schema-parts.ts';

/** Wire shapes of the corridors listing, with an example that a test validates against it. */
const CorridorSide = Nullable(
  Type.Object({
    rate: Type.String({
      description: 'Fiat for one unit of crypto as the customer gets it, spread included',
      examples: ['16.36'],
    }),
    spread_pct: Type.Number({ description: 'Part of the rate, around the market', examples: [1.25] }),
  }),
);

export const Corridors = Type.Object(
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
