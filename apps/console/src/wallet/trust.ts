import type { Trust } from '@causeway/sdk/signing';
import { useQuery } from '@tanstack/react-query';
import { consoleCall } from '../api/client.ts';

/** A chain of this deployment, with what is held against whatever a wallet is asked to sign there. */
interface SigningChain {
  readonly slug: string;
  readonly name: string;
  readonly chain_id: number;
  readonly explorer_url: string | null;
  readonly service: string;
  readonly treasury: string;
  readonly contracts: Trust['contracts'];
  readonly tokens: readonly { readonly code: string; readonly address: string; readonly decimals: number }[];
}

interface SigningTrust {
  /** The partner’s own wallet; null at the other desks. */
  readonly wallet_address: string | null;
  readonly chains: readonly SigningChain[];
}

/** With an order, the treasury of its chain is the one that the order pays. */
export function loadSigningTrust(orderId?: string): Promise<SigningTrust> {
  return consoleCall<SigningTrust>('getSigningTrust', { query: { order_id: orderId } });
}

export function useSigningTrust() {
  return useQuery({
    queryKey: ['signing-trust'],
    queryFn: () => loadSigningTrust(),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** For an order’s chain and the wallet that has to sign. */
export function trustFor({ chains }: Pick<SigningTrust, 'chains'>, slug: string, wallet: string): Trust {
  const chain = chains.find((one) => one.slug === slug);
  if (chain === undefined) throw new Error(`This deployment does not use the network ${slug}.`);
  const { chain_id: chainId, contracts, service, treasury, tokens } = chain;
  return {
    chainId,
    contracts,
    wallet,
    service,
    treasury,
    bridgeSolvers: 'any',
    tokens: Object.fromEntries(tokens.map(({ code, address, decimals }) => [code, { address, decimals }])),
  };
}
