import type { OrderTrigger } from '@causeway/protocol';
import type { ChainFactHandler, EscrowWatch } from '../../chain/chain-facts.ts';
import { type ChainSettings, tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { holdDeposit, watchAgain, watchEscrow } from '../../chain/watch.store.ts';
import { SYSTEM } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import { ensureEscrow } from './ensure-escrow.ts';
import { depositOf } from './order.escrow.ts';
import type { OrderHosts } from './order.host.ts';
import { findOrder, lockOrder, setTransactionHash } from './order.store.ts';
import type { OrderEscrow, OrderRow } from './order.types.ts';

type OrderPayload = { readonly order_id: string };

const FUNDED: Readonly<Record<OrderRow['direction'], OrderTrigger>> = {
  onramp: 'escrow_funded',
  offramp: 'deposit_finalized',
};

/** Makes an order's escrow known to the chain watcher, which also looks through the blocks before it was. */
export function escrowFundingHandler(
  tools: UnitTools & { readonly chains: Chains },
): IntentHandler<OrderPayload> {
  async function register({ payload }: Intent<OrderPayload>): Promise<Outcome> {
    const [found] = await tools.db.query(SYSTEM, findOrder, [payload.order_id]);
    const order = found && (await ensureEscrow(tools, found));
    if (order?.escrow == null) return { kind: 'failed', error: 'the order has no escrow' };
    const { settings } = tools.chains.get(order.chain);
    const watch = watchOf(settings, order, order.escrow);
    return {
      kind: 'confirmed',
      result: { watched: watch.address },
      followUp: async (unit) => watchEscrow(unit, settings.chainId, watch),
    };
  }
  return {
    kind: 'escrow.deploy-and-watch',
    schedule: schedule([5], { maxAttempts: 1_000 }),
    perform: register,
    reconcile: register,
  };
}

/** What the exact deposit means for its order. One that the order has no use for stays on record, for a person to see. */
export function creditDeposits(tools: { readonly orderHosts: OrderHosts }): ChainFactHandler {
  return async (fact, unit) => {
    if (fact.type !== 'deposit' || fact.kind !== 'exact') return;
    const [order] = await unit.tx.query(lockOrder, [fact.orderId]);
    if (order === undefined) {
      holdDeposit(unit, fact, 'there is no such order');
      return;
    }
    const trigger = FUNDED[order.direction];
    const execution = execute(unit, tools.orderHosts[order.direction], order, trigger, 'chain');
    if (execution.kind === 'refused') holdDeposit(unit, fact, `the order was ${order.status}`);
    else {
      unit.tx.defer(setTransactionHash, [order.order_id, fact.txHash]);
      watchAgain(unit, order.order_id);
    }
  };
}

function watchOf(settings: ChainSettings, order: OrderRow, escrow: OrderEscrow): EscrowWatch {
  return {
    address: escrow.address,
    orderId: order.order_id,
    partnerId: order.partner_id,
    token: tokenByCode(settings, order.crypto_currency).address,
    expectedAmount: depositOf(order),
    expectedSender: escrow.seller,
  };
}
