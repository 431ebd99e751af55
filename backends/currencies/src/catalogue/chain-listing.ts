import type {
  BlockchainView,
  CryptoCurrencyView,
  CryptoNetworkView,
  CryptoWithNetworksView,
} from './catalogue-views.ts';
import type { Chain, CryptoAsset, Token } from './reference-data.ts';

/** A local chain that stands for a listed one: its id and tokens take the place of the real ones. */
export type LocalChain = {
  slug: string;
  chainId: number;
  tokens: readonly { code: string; address: string; decimals: number }[];
};

export function overlayLocalChains(chains: readonly Chain[], localChains: readonly LocalChain[]): Chain[] {
  for (const { slug } of localChains) {
    if (!chains.some((chain) => chain.slug === slug)) throw new Error(`No chain is called ${slug}`);
  }
  return chains.map((chain) => {
    const local = localChains.find(({ slug }) => slug === chain.slug);
    if (local === undefined) return chain;
    const tokens = local.tokens.map((token) => ({ ...token, code: token.code as Token['code'] }));
    return { ...chain, chainId: local.chainId, tokens };
  });
}

export type ChainListing = {
  cryptoCurrencies: readonly CryptoCurrencyView[];
  blockchains: readonly BlockchainView[];
  cryptoWithNetworks: readonly CryptoWithNetworksView[];
  bridgeCryptoCurrencies: readonly CryptoNetworkView[];
};

type Placement = { asset: CryptoAsset; chain: Chain; token: Token };

export function buildChainListing(assets: readonly CryptoAsset[], chains: readonly Chain[]): ChainListing {
  const placements = chains.flatMap((chain) =>
    assets.flatMap((asset): Placement[] => {
      const token = chain.tokens.find(({ code, live }) => code === asset.code && live !== false);
      return token === undefined ? [] : [{ asset, chain, token }];
    }),
  );
  const byAsset = assets
    .map((asset) => ({ asset, on: placements.filter((placement) => placement.asset === asset) }))
    .filter(({ on }) => on.length > 0);

  return {
    cryptoCurrencies: byAsset.flatMap(({ on }) => on.slice(0, 1).map((first) => aggregate(first, on))),
    blockchains: chains.map((chain) => ({
      name: chain.name,
      slug: chain.slug,
      ticker: chain.ticker,
      crypto_currencies: placements
        .filter((placement) => placement.chain === chain)
        .map((placement) => aggregate(placement, [placement])),
    })),
    cryptoWithNetworks: byAsset.map(({ asset, on }) => ({
      code: asset.code,
      name: asset.name,
      networks: on.map((placement) => {
        const { code: _code, name: _name, ...network } = toNetwork(placement);
        return network;
      }),
    })),
    bridgeCryptoCurrencies: placements.map(toNetwork),
  };
}

/** In the aggregate listing the contract is the one on the first chain; inside a chain it is that chain's. */
function aggregate({ asset, token }: Placement, on: readonly Placement[]): CryptoCurrencyView {
  return {
    code: asset.code,
    name: asset.name,
    contract: token.address,
    decimals: token.decimals,
    blockchains: on.map(({ chain }) => chain.slug),
  };
}

function toNetwork({ asset, chain, token }: Placement): CryptoNetworkView {
  return {
    code: asset.code,
    name: asset.name,
    blockchain: chain.slug,
    chain_id: chain.chainId,
    contract: token.address,
    decimals: token.decimals,
  };
}
