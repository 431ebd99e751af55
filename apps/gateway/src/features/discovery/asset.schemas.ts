import { Type } from 'typebox';

/** Wire shapes of crypto currencies, blockchains and fiat currencies, with examples that a test validates against them. */
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
