import { Type } from 'typebox';
import { CountryFilter, CurrencyFilter, Nullable } from './schema-parts.ts';

/** Wire shapes of payment rails, with examples that a test validates against them. */
export const PaymentField = Type.Object({
  key: Type.String({ examples: ['phone_number'] }),
  label: Type.String({ examples: ['Mobile number'] }),
  type: Type.String({ description: 'text, number, select, email, tel', examples: ['tel'] }),
  required: Type.Boolean(),
  pattern: Type.Optional(
    Type.String({
      description: 'Regular expression of the whole value (flag u)',
      examples: ['^\\+233[0-9]{9}$'],
    }),
  ),
  placeholder: Type.Optional(Type.String({ examples: ['+233241234567'] })),
  max_length: Type.Integer({ description: 'In characters', examples: [13] }),
  lookup: Type.Optional(
    Type.Boolean({ description: 'The value can be looked up in the institutions listing' }),
  ),
  options: Type.Optional(
    Type.Array(Type.Object({ code: Type.String(), name: Type.String() }), {
      description: 'Choices of a select field',
      examples: [[{ code: 'savings', name: 'Savings account' }]],
    }),
  ),
});

const RailFormat = Type.Object({
  id: Type.String({ examples: ['ghana-mobile-money'] }),
  name: Type.String({ examples: ['Mobile money'] }),
  institution_types: Type.Array(Type.String(), { examples: [['mobile-money']] }),
  has_liquidity: Type.Optional(
    Type.Boolean({ description: 'Left out where it is not known; live availability shows at the quote' }),
  ),
  beneficiary_type: Type.Optional(Type.Union([Type.Literal('individual'), Type.Literal('business')])),
  fields: Type.Array(PaymentField),
});

const Amount = Nullable(Type.Number({ description: 'null: no limit' }));

export const Rail = Type.Object({
  slug: Type.String({ examples: ['ghana-transfer'] }),
  name: Type.String({ examples: ['Ghana transfer'] }),
  institution_required: Type.Boolean(),
  institution_lookup_key: Nullable(Type.String({ examples: ['sort_code'] })),
  currencies: Type.Array(Type.String(), { examples: [['GHS']] }),
  countries: Type.Array(Type.String(), { examples: [['GH']] }),
  directions: Type.Array(Type.String(), { examples: [['onramp', 'offramp']] }),
  settlement: Nullable(
    Type.Object({
      speed: Type.Union(
        ['INSTANT', 'SAME_DAY', 'NEXT_DAY', 'STANDARD'].map((speed) => Type.Literal(speed)),
        { examples: ['INSTANT'] },
      ),
      typical_minutes: Type.Integer({ examples: [2] }),
      note: Nullable(Type.String()),
    }),
  ),
  limits: Nullable(Type.Object({ min_amount: Amount, max_amount: Amount, max_per_transaction: Amount })),
  fields: Type.Array(PaymentField, {
    description: 'What payment details need. On a rail with `formats` only a best effort: use the format.',
  }),
  require_one_of: Type.Optional(
    Type.Array(Type.Array(Type.String()), {
      description: 'Groups of fields of which at least one is needed',
      examples: [[['email', 'phone_number']]],
    }),
  ),
  formats: Type.Optional(
    Type.Array(RailFormat, {
      description:
        'Only on rails with several: pick the one whose institution_types holds your institution’s institution_type',
    }),
  ),
});

const PHONE_FIELD = {
  key: 'phone_number',
  label: 'Mobile number',
  type: 'tel',
  required: true,
  pattern: '^\\+233[0-9]{9}$',
  placeholder: '+233241234567',
  max_length: 13,
};

export const PaymentRails = Type.Object(
  {
    country: Nullable(Type.String({ description: 'From the query, or of the first rail' })),
    currency: Nullable(Type.String({ description: 'From the query, or of the first rail' })),
    direction: Type.Union([Type.Literal('onramp'), Type.Literal('offramp')]),
    rails: Type.Array(Rail),
    links: Type.Record(Type.String(), Type.String(), {
      description: '`self`, and `institutions:<rail>` for every rail',
    }),
  },
  {
    examples: [
      {
        country: 'GH',
        currency: 'GHS',
        direction: 'offramp',
        rails: [
          {
            slug: 'ghana-transfer',
            name: 'Ghana transfer',
            institution_required: true,
            institution_lookup_key: null,
            currencies: ['GHS'],
            countries: ['GH'],
            directions: ['onramp', 'offramp'],
            settlement: { speed: 'INSTANT', typical_minutes: 2, note: null },
            limits: { min_amount: 10, max_amount: 50000, max_per_transaction: 15000 },
            fields: [PHONE_FIELD],
            formats: [
              {
                id: 'ghana-mobile-money',
                name: 'Mobile money',
                institution_types: ['mobile-money'],
                fields: [PHONE_FIELD],
              },
            ],
          },
        ],
        links: {
          self: '/api/v1/supported/payment-rails?country=GH&direction=offramp',
          'institutions:ghana-transfer': '/api/v1/supported/institutions?rail=ghana-transfer&country=GH',
        },
      },
    ],
  },
);

export const PaymentRailsQuery = Type.Object({
  country: CountryFilter,
  currency: CurrencyFilter,
  direction: Type.Union([Type.Literal('onramp'), Type.Literal('offramp')], { examples: ['offramp'] }),
});
