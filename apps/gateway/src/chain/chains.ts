import type { ChainSettings } from './chain-settings.ts';
import { type ChainClient, type ChainClientOptions, createChainClient } from './rpc/chain-client.ts';
import type { Signer } from './signers/keystore-signer.ts';

export interface ConnectedChain {
  readonly settings: ChainSettings;
  readonly client: ChainClient;
}

/** The networks of this deployment, and the service's key on them. */
export interface Chains {
  readonly service: Signer;
  readonly all: readonly ConnectedChain[];
  /** Throws for a slug that is not connected: an order never names one. */
  get(slug: string): ConnectedChain;
}

export function connectChains(
  settings: readonly ChainSettings[],
  service: Signer,
  options: ChainClientOptions = {},
): Chains {
  const bySlug = new Map(
    settings.map((one) => [one.slug, { settings: one, client: createChainClient(one, options) }]),
  );
  return {
    service,
    all: [...bySlug.values()],
    get(slug) {
      const chain = bySlug.get(slug);
      if (chain === undefined) throw new Error(`chain ${slug} is not connected`);
      return chain;
    },
  };
}
