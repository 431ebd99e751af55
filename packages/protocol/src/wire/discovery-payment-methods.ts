import { Type } from 'typebox';
import { FiatCode } from './common.ts';
import { OffsetPage, offsetPaging } from './paging.ts';

/** Payment methods, and what each currency can be paid with; the examples are validated by a test. */

const Slug = (example: string) => Type.String({ minLength: 1, maxLength: 80, examples: [example] });

export const PaymentMethodSchema = Type.Object(
  {
    id: Type.Integer({ examples: [1810] }),
    slug: Type.String({ examples: ['mtn-momo-ghana'] }),
    name: Type.String({ examples: ['MTN MoMo Ghana'] }),
    type: Type.String({ description: 'BANK, WALLET', examples: ['WALLET'] }),
    institution_type: Type.String({ examples: ['mobile-money'] }),
    code: Type.Optional(Type.String({ examples: ['MTN'] })),
    countries: Type.Array(Type.String(), { examples: [['GH']] }),
    fiat_currencies: Type.Array(Type.String(), { examples: [['GHS']] }),
    payment_networks: Type.Array(Type.String(), {
      description: 'Rail slugs',
      examples: [['ghana-transfer']],
    }),
    active: Type.Boolean({ description: 'Whether any of its options is live' }),
  },
  {
    examples: [
      {
        id: 1810,
        slug: 'mtn-momo-ghana',
        name: 'MTN MoMo Ghana',
        type: 'WALLET',
        institution_type: 'mobile-money',
        code: 'MTN',
        countries: ['GH'],
        fiat_currencies: ['GHS'],
        payment_networks: ['ghana-transfer'],
        active: true,
      },
    ],
  },
);

export const PaymentMethodListSchema = Type.Object({
  payment_methods: Type.Array(PaymentMethodSchema),
  pagination: OffsetPage,
});

export const PaymentMethodQuery = Type.Object({
  ...offsetPaging(20, 100),
  type: Type.Optional(Type.Union([Type.Literal('BANK'), Type.Literal('WALLET')], { examples: ['WALLET'] })),
  country: Type.Optional(
    Type.String({ description: 'ISO 3166-1 alpha-2', pattern: '^[A-Za-z]{2}$', examples: ['GH'] }),
  ),
});

const MAX_METHOD_ID = 2_147_483_647;

export const PaymentMethodParams = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: MAX_METHOD_ID, examples: [1810] }),
});

export const PaymentMethodSlugParams = Type.Object({ slug: Slug('mtn-momo-ghana') });

export const FiatCodeParams = Type.Object({ fiat_currency_code: FiatCode({ examples: ['GHS'] }) });

export const NetworkAndFiatParams = Type.Object({
  network_slug: Slug('ghana-transfer'),
  fiat_currency_code: FiatCode({ examples: ['GHS'] }),
});

export const PaymentMethodTypeListSchema = Type.Array(
  Type.Object({
    slug: Type.String({ examples: ['mobile-money'] }),
    name: Type.String({ examples: ['Mobile money'] }),
    type: Type.String({ examples: ['WALLET'] }),
    payment_methods: Type.Integer({ description: 'How many there are', examples: [40] }),
  }),
  { examples: [[{ slug: 'mobile-money', name: 'Mobile money', type: 'WALLET', payment_methods: 40 }]] },
);

const PaymentMethodOption = Type.Object(
  {
    id: Type.String({ examples: ['1810:9:GHS'] }),
    payment_method_id: Type.Integer({ examples: [1810] }),
    payment_method_slug: Type.String({ examples: ['mtn-momo-ghana'] }),
    payment_network_id: Type.Integer({ examples: [9] }),
    payment_network_slug: Type.String({ examples: ['ghana-transfer'] }),
    fiat_currency_code: Type.String({ examples: ['GHS'] }),
    countries: Type.Array(Type.String(), { examples: [['GH']] }),
    active: Type.Boolean(),
  },
  {
    examples: [
      {
        id: '1810:9:GHS',
        payment_method_id: 1810,
        payment_method_slug: 'mtn-momo-ghana',
        payment_network_id: 9,
        payment_network_slug: 'ghana-transfer',
        fiat_currency_code: 'GHS',
        countries: ['GH'],
        active: true,
      },
    ],
  },
);

export const PaymentMethodOptionListSchema = Type.Array(PaymentMethodOption);

export const PaymentMethodOptionPageSchema = Type.Object({
  options: Type.Array(PaymentMethodOption),
  pagination: OffsetPage,
});

const Reference = {
  id: Type.Integer({ examples: [9] }),
  slug: Type.String({ examples: ['ghana-transfer'] }),
  name: Type.String({ examples: ['Ghana transfer'] }),
};

const NETWORK = { id: 9, slug: 'ghana-transfer', name: 'Ghana transfer' };

const METHOD = { id: 1810, slug: 'mtn-momo-ghana', name: 'MTN MoMo Ghana' };

const ONE_PAGE = { total: 1, limit: 20, offset: 0 };

export const FiatFilterQuery = Type.Object({
  fiat_currency_code: Type.Optional(FiatCode({ examples: ['GHS'] })),
  ...offsetPaging(20, 100),
});

export const CurrencyMethodsSchema = Type.Object(
  {
    currencies: Type.Array(
      Type.Object({
        fiat_currency_code: Type.String({ examples: ['GHS'] }),
        payment_methods: Type.Array(
          Type.Object({ ...Reference, payment_networks: Type.Array(Type.Object(Reference)) }),
        ),
      }),
    ),
    pagination: OffsetPage,
  },
  {
    examples: [
      {
        currencies: [
          { fiat_currency_code: 'GHS', payment_methods: [{ ...METHOD, payment_networks: [NETWORK] }] },
        ],
        pagination: ONE_PAGE,
      },
    ],
  },
);

export const CurrencyNetworksSchema = Type.Object(
  {
    currencies: Type.Array(
      Type.Object({
        fiat_currency_code: Type.String({ examples: ['GHS'] }),
        payment_networks: Type.Array(
          Type.Object({ ...Reference, payment_methods: Type.Array(Type.Object(Reference)) }),
        ),
      }),
    ),
    pagination: OffsetPage,
  },
  {
    examples: [
      {
        currencies: [
          { fiat_currency_code: 'GHS', payment_networks: [{ ...NETWORK, payment_methods: [METHOD] }] },
        ],
        pagination: ONE_PAGE,
      },
    ],
  },
);

export const SupportedPairsQuery = Type.Object({
  crypto_currency_code: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9]{3,10}$', examples: ['USDC'] })),
  fiat_currency_code: Type.Optional(FiatCode({ examples: ['GHS'] })),
  ...offsetPaging(100, 500),
});

export const SupportedPairListSchema = Type.Object(
  {
    pairs: Type.Array(
      Type.Object({
        crypto_currency_code: Type.String({ examples: ['USDC'] }),
        fiat_currency_code: Type.String({ examples: ['GHS'] }),
        blockchains: Type.Array(Type.String(), { examples: [['base-mainnet']] }),
        payment_networks: Type.Array(Type.String(), { examples: [['ghana-transfer']] }),
        onramp: Type.Boolean(),
        offramp: Type.Boolean(),
      }),
    ),
    pagination: OffsetPage,
  },
  {
    examples: [
      {
        pairs: [
          {
            crypto_currency_code: 'USDC',
            fiat_currency_code: 'GHS',
            blockchains: ['base-mainnet'],
            payment_networks: ['ghana-transfer'],
            onramp: true,
            offramp: true,
          },
        ],
        pagination: { total: 1, limit: 100, offset: 0 },
      },
    ],
  },
);

export const CurrencyCountriesSchema = Type.Object(
  {
    currencies: Type.Array(
      Type.Object({
        fiat_currency_code: Type.String({ examples: ['GHS'] }),
        countries: Type.Array(
          Type.Object({
            code: Type.String({ examples: ['GH'] }),
            name: Type.String({ examples: ['Ghana'] }),
            payment_methods: Type.Array(Type.String(), { examples: [['mtn-momo-ghana']] }),
          }),
        ),
      }),
    ),
    pagination: OffsetPage,
  },
  {
    examples: [
      {
        currencies: [
          {
            fiat_currency_code: 'GHS',
            countries: [{ code: 'GH', name: 'Ghana', payment_methods: ['mtn-momo-ghana'] }],
          },
        ],
        pagination: ONE_PAGE,
      },
    ],
  },
);
