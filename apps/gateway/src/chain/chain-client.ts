import { createPublicClient, defineChain, http } from 'viem';
import type { ChainSettings } from './chain-settings.ts';

export type ChainClient = ReturnType<typeof connectChain>;

const RPC_TIMEOUT_MS = 10_000;
const POLLING_INTERVAL_MS = 500;

/** A read and broadcast connection to one chain. It holds no key and does not retry: callers decide what is safe to repeat. */
export function connectChain(
  { slug, chainId, rpcUrl }: Pick<ChainSettings, 'slug' | 'chainId' | 'rpcUrl'>,
  pollingInterval = POLLING_INTERVAL_MS,
) {
  return createPublicClient({
    chain: viemChain(slug, chainId, rpcUrl),
    transport: http(rpcUrl, { timeout: RPC_TIMEOUT_MS, retryCount: 0 }),
    pollingInterval,
    // Gas estimates and nonces must describe this moment, not a cached block.
    cacheTime: 0,
  });
}

export function viemChain(slug: string, chainId: number, rpcUrl: string) {
  return defineChain({
    id: chainId,
    name: slug,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
}
