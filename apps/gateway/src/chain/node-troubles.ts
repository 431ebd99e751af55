import { Counter, type Registry } from 'prom-client';
import type { Logger } from '../lib/logger.ts';
import type { NodeGroupOptions } from './rpc-failover.ts';

/** Tells operators of nodes in trouble: one that is down is a warning, nodes that contradict each other are an alert. */
export function nodeTroubles(logger: Logger, registry: Registry): NonNullable<NodeGroupOptions['onTrouble']> {
  const troubles = new Counter({
    name: 'chain_node_troubles_total',
    help: 'Nodes that were out of reach or out of step (node), and contradictions between nodes (disagreement).',
    labelNames: ['kind'],
    registers: [registry],
  });
  return (trouble, kind) => {
    troubles.inc({ kind });
    if (kind === 'node') logger.warn({ trouble }, 'chain node in trouble');
    else logger.error({ trouble }, 'chain nodes contradict each other; nothing moves on what they say');
  };
}
