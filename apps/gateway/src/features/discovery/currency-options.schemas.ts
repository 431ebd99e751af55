import { Type } from 'typebox';
import { FiatCode, Pagination, paging } from './schema-parts.ts';

/** Pass-through wire shapes of what each currency can be paid with, with examples that a test validates against them. */
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
  ...paging(20, 100),
});

export const CurrenciesWithMethods = Type.Object(
  {
    currencies: Type.Array(
      Type.Object({
        fiat_currency_code: Type.String({ examples: ['GHS'] }),
        payment_methods: Type.Array(
          Type.Object({ ...Reference, payment_networks: Type.Array(Type.Object(Reference)) }),
        ),
      }),
    ),
    pagination: Pagination,
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

export const CurrenciesWithNetworks = Type.Object(
  {
    currencies: Type.Array(
      Type.Object({
        fiat_currency_code: Type.String({ examples: ['GHS'] }),
        payment_networks: Type.Array(
          Type.Object({ ...Reference, payment_methods: Type.Array(Type.Object(Reference)) }),
        ),
      }),
    ),
    pagination: Pagination,
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
  ...paging(100, 500),
});

export const SupportedPairs = Type.Object(
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
    pagination: Pagination,
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

export const CurrencyCountries = Type.Object(
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
    pagination: Pagination,
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
