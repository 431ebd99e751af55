import { tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { finalBalance } from '../../chain/token-reads.ts';
import { SYSTEM } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { OrderHosts } from './order.host.ts';
import { findOrder, lockOrder, setTransactionHash } from './order.store.ts';

type OrderPayload = { readonly order_id: string };

const POLL_MS = 500;

/** Waits until the escrow holds what the vendor owes, deep enough in the chain to count. */
export function escrowFundingHandler(
  tools: UnitTools & { readonly chains: Chains; readonly orderHosts: OrderHosts },
): IntentHandler<OrderPayload> {
  async function look({ payload }: Intent<OrderPayload>): Promise<Outcome> {
    const [order] = await tools.db.query(SYSTEM, findOrder, [payload.order_id]);
    if (order?.escrow == null) return { kind: 'failed', error: 'the order has no escrow' };
    if (order.status !== 'awaiting_vendor_escrow_funding') return { kind: 'confirmed' };
    const { client, settings } = tools.chains.get(order.chain);
    const token = tokenByCode(settings, order.crypto_currency).address;
    const { balance, txHash } = await finalBalance(client, settings, token, order.escrow.address);
    if (balance < BigInt(order.crypto_amount)) return { kind: 'waiting', afterMs: POLL_MS };
    return {
      kind: 'confirmed',
      result: { tx_hash: txHash ?? null },
      followUp: async (unit) => {
        const [locked] = await unit.tx.query(lockOrder, [order.order_id]);
        if (locked === undefined) return;
        execute(unit, tools.orderHosts[locked.direction], locked, 'escrow_funded', 'chain');
        if (txHash !== undefined) unit.tx.defer(setTransactionHash, [order.order_id, txHash]);
      },
    };
  }
  return {
    kind: 'escrow.deploy-and-watch',
    schedule: schedule([5], { maxAttempts: 1_000 }),
    perform: look,
    reconcile: look,
  };
}
