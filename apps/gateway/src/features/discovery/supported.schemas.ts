import { type TSchema, Type } from 'typebox';

/** Wire shapes of the supported-resources endpoints, with examples that a test validates against them. */
const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Code = (description: string, example: string) => Type.String({ description, examples: [example] });

const USDC_ON_BASE = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

export const CryptoCurrency = Type.Object({
  code: Code('USDC, USDT or USDT0', 'USDC'),
  name: Type.String({ examples: ['USD Coin'] }),
  contract: Type.String({
    description:
      'Token contract. Inside a blockchain it is the address on that chain; in the aggregate listing the address on the first of `blockchains`.',
    examples: [USDC_ON_BASE],
  }),
  decimals: Type.Integer({ format: 'int64', examples: [6] }),
  blockchains: Type.Array(Type.String(), { description: 'Chain slugs', examples: [['base-mainnet']] }),
});

export const CryptoCurrencies = Type.Array(CryptoCurrency, {
  examples: [
    [{ code: 'USDC', name: 'USD Coin', contract: USDC_ON_BASE, decimals: 6, blockchains: ['base-mainnet'] }],
  ],
});

export const Blockchains = Type.Array(
  Type.Object({
    name: Type.String({ description: 'Match on slug, not on name', examples: ['Base'] }),
    slug: Type.String({ examples: ['base-mainnet'] }),
    ticker: Type.String({ description: 'Empty where a chain has none', examples: ['ETH'] }),
    crypto_currencies: Type.Array(CryptoCurrency, {
      description: 'The tokens enabled on this chain; a pair that is not listed is not enabled',
    }),
  }),
  {
    examples: [
      [
        {
          name: 'Base',
          slug: 'base-mainnet',
          ticker: 'ETH',
          crypto_currencies: [
            {
              code: 'USDC',
              name: 'USD Coin',
              contract: USDC_ON_BASE,
              decimals: 6,
              blockchains: ['base-mainnet'],
            },
          ],
        },
      ],
    ],
  },
);

export const FiatCurrencies = Type.Array(
  Type.Object({
    code: Code('ISO 4217', 'KES'),
    name: Type.String({ examples: ['Kenyan shilling'] }),
    symbol: Type.String({ examples: ['KSh'] }),
    minor_units: Type.Integer({ description: 'Decimals of an amount', examples: [2] }),
    institution_id: Type.Array(Type.String(), {
      description: 'Payment-method slugs that support the currency',
      examples: [['mpesa-kenya']],
    }),
    countries: Type.Array(Type.String(), { description: 'ISO 3166-1 alpha-2', examples: [['KE']] }),
    onramp: Type.Boolean(),
    offramp: Type.Boolean(),
  }),
  {
    examples: [
      [
        {
          code: 'KES',
          name: 'Kenyan shilling',
          symbol: 'KSh',
          minor_units: 2,
          institution_id: ['mpesa-kenya'],
          countries: ['KE'],
          onramp: true,
          offramp: true,
        },
      ],
    ],
  },
);

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

export const Pagination = Type.Object({
  total: Type.Integer({ examples: [1] }),
  limit: Type.Integer({ examples: [20] }),
  offset: Type.Integer({ examples: [0] }),
});

export const Institutions = Type.Object(
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
    pagination: Pagination,
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

const Country = Type.Optional(
  Type.String({
    description: 'ISO 3166-1 alpha-2, either case',
    minLength: 2,
    maxLength: 2,
    examples: ['GH'],
  }),
);
const Currency = Type.Optional(
  Type.String({ description: 'ISO 4217, either case', minLength: 3, maxLength: 3, examples: ['GHS'] }),
);

export const PaymentRailsQuery = Type.Object({
  country: Country,
  currency: Currency,
  direction: Type.Union([Type.Literal('onramp'), Type.Literal('offramp')], { examples: ['offramp'] }),
});

export const InstitutionsQuery = Type.Object({
  rail: Type.String({ description: 'Rail slug', maxLength: 80, examples: ['ghana-transfer'] }),
  institution_id: Type.Optional(Type.String({ maxLength: 80, examples: ['mtn-momo-ghana'] })),
  country: Country,
  currency: Currency,
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
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, examples: [0] })),
});
