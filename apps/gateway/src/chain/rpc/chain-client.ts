import { Counter, type Registry } from 'prom-client';
import { createPublicClient, custom, defineChain } from 'viem';
import type { Logger } from '../../lib/logger.ts';
import type { ChainSettings } from '../chain-settings.ts';
import { groupNodes, type NodeGroupOptions } from './rpc-failover.ts';
import { rpcNode } from './rpc-node.ts';

export type ChainClient = ReturnType<typeof createChainClient>;

const POLLING_INTERVAL_MS = 500;

export interface ChainClientOptions extends NodeGroupOptions {
  readonly pollingInterval?: number;
}

/**
 * A read and broadcast connection to one chain, over all of its nodes. It holds no key and repeats a question only to
 * another node, never to the same: callers decide what is safe to repeat.
 */
export function createChainClient(
  {
    slug,
    chainId,
    rpcUrl,
    rpcUrls = [rpcUrl],
    quorum,
  }: Pick<ChainSettings, 'slug' | 'chainId' | 'rpcUrl' | 'rpcUrls' | 'quorum'>,
  { pollingInterval = POLLING_INTERVAL_MS, ...options }: ChainClientOptions = {},
) {
  const nodes = rpcUrls.map((url, index) => rpcNode(`node ${index + 1} of ${slug}`, url));
  const group = groupNodes(nodes, chainId, { quorum, ...options });
  return createPublicClient({
    chain: viemChain(slug, chainId),
    transport: custom(
      { request: ({ method, params }: { method: string; params?: unknown }) => group.call(method, params) },
      { retryCount: 0 },
    ),
    pollingInterval,
    // Gas estimates and nonces must describe this moment, not a cached block.
    cacheTime: 0,
  }).extend(() => ({ agreedBlockHash: group.agreedBlockHash, askInPassing: group.askInPassing }));
}

/** The client library's description of a chain. It never learns a node's address, so its errors cannot repeat one. */
export function viemChain(slug: string, chainId: number, rpcUrl?: string) {
  return defineChain({
    id: chainId,
    name: slug,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: rpcUrl === undefined ? [] : [rpcUrl] } },
  });
}

/** Tells operators of nodes in trouble: one that is down is a warning, nodes that contradict each other are an alert. */
export function nodeTroubles(logger: Logger, registry: Registry): NonNullable<NodeGroupOptions['onTrouble']> {
  const troubles = new Counter({
    name: 'chain_node_troubles_total',
    help: 'Nodes that were out of reach or out of step (node), and contradictions between nodes (disagreement).',
    labelNames: ['kind'],
    registers: [registry],
  });
  // A counter that begins with its first trouble has not grown by it: an alert on its growth would miss that one.
  for (const kind of ['node', 'disagreement'] as const) troubles.inc({ kind }, 0);
  return (trouble, kind) => {
    troubles.inc({ kind });
    if (kind === 'node') logger.warn({ trouble }, 'chain node in trouble');
    else logger.error({ trouble }, 'chain nodes contradict each other; nothing moves on what they say');
  };
}
