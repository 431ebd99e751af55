import { Type } from 'typebox';

/** Crypto currencies, chains, fiat currencies and countries; the examples are validated by a test. */

const Code = (description: string, example: string) => Type.String({ description, examples: [example] });

const USDC_ON_BASE = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

export const CryptoCurrencySchema = Type.Object({
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

export const CryptoCurrencyListSchema = Type.Array(CryptoCurrencySchema, {
  examples: [
    [{ code: 'USDC', name: 'USD Coin', contract: USDC_ON_BASE, decimals: 6, blockchains: ['base-mainnet'] }],
  ],
});

export const BlockchainListSchema = Type.Array(
  Type.Object({
    name: Type.String({ description: 'Match on slug, not on name', examples: ['Base'] }),
    slug: Type.String({ examples: ['base-mainnet'] }),
    ticker: Type.String({ description: 'Empty where a chain has none', examples: ['ETH'] }),
    crypto_currencies: Type.Array(CryptoCurrencySchema, {
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

export const FiatCurrencyListSchema = Type.Array(
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

export const CurrencyListSchema = Type.Array(
  Type.Object({
    code: Type.String({ examples: ['KES'] }),
    numeric_code: Type.String({ examples: ['404'] }),
    name: Type.String({ examples: ['Kenyan shilling'] }),
    symbol: Type.String({ examples: ['KSh'] }),
    minor_units: Type.Integer({ examples: [2] }),
    countries: Type.Array(Type.String(), { examples: [['KE']] }),
  }),
  {
    examples: [
      [
        {
          code: 'KES',
          numeric_code: '404',
          name: 'Kenyan shilling',
          symbol: 'KSh',
          minor_units: 2,
          countries: ['KE'],
        },
      ],
    ],
  },
);

const network = {
  blockchain: Type.String({ examples: ['base-mainnet'] }),
  chain_id: Type.Integer({ examples: [8453] }),
  contract: Type.String({ examples: ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'] }),
  decimals: Type.Integer({ examples: [6] }),
};

const BASE_NETWORK = {
  blockchain: 'base-mainnet',
  chain_id: 8453,
  contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  decimals: 6,
};

export const CryptoCurrencyNetworksSchema = Type.Array(
  Type.Object({
    code: Type.String({ examples: ['USDC'] }),
    name: Type.String({ examples: ['USD Coin'] }),
    networks: Type.Array(Type.Object(network)),
  }),
  { examples: [[{ code: 'USDC', name: 'USD Coin', networks: [BASE_NETWORK] }]] },
);

export const BridgeCryptoCurrencyListSchema = Type.Array(
  Type.Object({
    code: Type.String({ examples: ['USDC'] }),
    name: Type.String({ examples: ['USD Coin'] }),
    ...network,
  }),
  { examples: [[{ code: 'USDC', name: 'USD Coin', ...BASE_NETWORK }]] },
);

export const CountryListSchema = Type.Array(
  Type.Object({
    code: Type.String({ examples: ['KE'] }),
    alpha3: Type.String({ examples: ['KEN'] }),
    name: Type.String({ examples: ['Kenya'] }),
    calling_code: Type.String({ examples: ['254'] }),
    currencies: Type.Array(
      Type.Object({
        code: Type.String({ examples: ['KES'] }),
        name: Type.String({ examples: ['Kenyan shilling'] }),
        symbol: Type.String({ examples: ['KSh'] }),
        minor_units: Type.Integer({ examples: [2] }),
      }),
    ),
  }),
  {
    examples: [
      [
        {
          code: 'KE',
          alpha3: 'KEN',
          name: 'Kenya',
          calling_code: '254',
          currencies: [{ code: 'KES', name: 'Kenyan shilling', symbol: 'KSh', minor_units: 2 }],
        },
      ],
    ],
  },
);
