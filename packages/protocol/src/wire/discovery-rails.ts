import { Type } from 'typebox';
import { CountryFilter, CurrencyFilter, constants, Nullable } from './common.ts';
import { MAX_OFFSET, OffsetPage } from './paging.ts';

/** Payment rails and institutions; the examples are validated by a test. */

export const PaymentFieldSchema = Type.Object({
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

export const RailFormatSchema = Type.Object({
  id: Type.String({ examples: ['ghana-mobile-money'] }),
  name: Type.String({ examples: ['Mobile money'] }),
  institution_types: Type.Array(Type.String(), { examples: [['mobile-money']] }),
  has_liquidity: Type.Optional(
    Type.Boolean({ description: 'Left out where it is not known; live availability shows at the quote' }),
  ),
  beneficiary_type: Type.Optional(Type.Union([Type.Literal('individual'), Type.Literal('business')])),
  fields: Type.Array(PaymentFieldSchema),
});

const RailLimit = Nullable(Type.Number({ description: 'null: no limit' }));

const SETTLEMENT_SPEEDS = ['INSTANT', 'SAME_DAY', 'NEXT_DAY', 'STANDARD'] as const;

/** A rail as the API lists it: the one declaration that the catalogue's views and the validation of details derive from. */
export const RailSchema = Type.Object({
  slug: Type.String({ examples: ['ghana-transfer'] }),
  name: Type.String({ examples: ['Ghana transfer'] }),
  institution_required: Type.Boolean(),
  institution_lookup_key: Nullable(Type.String({ examples: ['sort_code'] })),
  currencies: Type.Array(Type.String(), { examples: [['GHS']] }),
  countries: Type.Array(Type.String(), { examples: [['GH']] }),
  directions: Type.Array(Type.String(), { examples: [['onramp', 'offramp']] }),
  settlement: Nullable(
    Type.Object({
      speed: constants(SETTLEMENT_SPEEDS, { examples: ['INSTANT'] }),
      typical_minutes: Type.Integer({ examples: [2] }),
      note: Nullable(Type.String()),
    }),
  ),
  limits: Nullable(
    Type.Object({ min_amount: RailLimit, max_amount: RailLimit, max_per_transaction: RailLimit }),
  ),
  fields: Type.Array(PaymentFieldSchema, {
    description: 'What payment details need. On a rail with `formats` only a best effort: use the format.',
  }),
  require_one_of: Type.Optional(
    Type.Array(Type.Array(Type.String()), {
      description: 'Groups of fields of which at least one is needed',
      examples: [[['email', 'phone_number']]],
    }),
  ),
  formats: Type.Optional(
    Type.Array(RailFormatSchema, {
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

export const PaymentRailsSchema = Type.Object(
  {
    country: Nullable(Type.String({ description: 'From the query, or of the first rail' })),
    currency: Nullable(Type.String({ description: 'From the query, or of the first rail' })),
    direction: Type.Union([Type.Literal('onramp'), Type.Literal('offramp')]),
    rails: Type.Array(RailSchema),
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

export const RailQuery = Type.Object({
  country: CountryFilter,
  currency: CurrencyFilter,
  direction: Type.Union([Type.Literal('onramp'), Type.Literal('offramp')], { examples: ['offramp'] }),
});

export const InstitutionListSchema = Type.Object(
  {
    institutions: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Pass it as institution_id', examples: ['mtn-momo-ghana'] }),
        payment_method_id: Type.Optional(
          Type.Integer({ format: 'int64', description: 'Left out in the imps-neft-india directory' }),
        ),
        payment_network_id: Type.Optional(
          Type.Integer({
            format: 'int64',
            description: 'The queried rail; left out in the imps-neft-india directory',
          }),
        ),
        name: Type.String({ examples: ['MTN MoMo Ghana'] }),
        type: Type.String({ description: 'BANK, WALLET', examples: ['WALLET'] }),
        institution_type: Type.String({ examples: ['mobile-money'] }),
        code: Type.Optional(
          Type.String({
            description: 'IFSC prefix, NIBSS code, reference BIC … depending on the rail',
            examples: ['MTN'],
          }),
        ),
        branch: Nullable(Type.Object({ code: Type.String(), name: Type.String(), address: Type.String() })),
        supported_rails: Type.Array(Type.String(), { examples: [['ghana-transfer']] }),
      }),
    ),
    pagination: OffsetPage,
  },
  {
    examples: [
      {
        institutions: [
          {
            id: 'mtn-momo-ghana',
            payment_method_id: 1810,
            payment_network_id: 9,
            name: 'MTN MoMo Ghana',
            type: 'WALLET',
            institution_type: 'mobile-money',
            code: 'MTN',
            branch: null,
            supported_rails: ['ghana-transfer'],
          },
        ],
        pagination: { total: 1, limit: 20, offset: 0 },
      },
    ],
  },
);

export const InstitutionQuery = Type.Object({
  rail: Type.String({ description: 'Rail slug', maxLength: 80, examples: ['ghana-transfer'] }),
  institution_id: Type.Optional(Type.String({ maxLength: 80, examples: ['mtn-momo-ghana'] })),
  country: CountryFilter,
  currency: CurrencyFilter,
  search: Type.Optional(
    Type.String({
      description: 'Part of the name; case and accents do not matter',
      maxLength: 100,
      examples: ['mtn'],
    }),
  ),
  code: Type.Optional(
    Type.String({
      description: 'Bank code: IFSC prefix for imps-neft-india, NIBSS code for nip-nigeria',
      maxLength: 32,
      examples: ['MTN'],
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, examples: [20] })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OFFSET, default: 0, examples: [0] })),
});
