import { Type } from 'typebox';

/** Pass-through wire shapes of currencies and countries, with examples that a test validates against them. */
export const Currencies = Type.Array(
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

export const CryptoCurrenciesWithNetworks = Type.Array(
  Type.Object({
    code: Type.String({ examples: ['USDC'] }),
    name: Type.String({ examples: ['USD Coin'] }),
    networks: Type.Array(Type.Object(network)),
  }),
  { examples: [[{ code: 'USDC', name: 'USD Coin', networks: [BASE_NETWORK] }]] },
);

export const BridgeCryptoCurrencies = Type.Array(
  Type.Object({
    code: Type.String({ examples: ['USDC'] }),
    name: Type.String({ examples: ['USD Coin'] }),
    ...network,
  }),
  { examples: [[{ code: 'USDC', name: 'USD Coin', ...BASE_NETWORK }]] },
);

export const Countries = Type.Array(
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
