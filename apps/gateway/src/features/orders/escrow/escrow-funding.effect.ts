import { type ChainSettings, tokenByCode } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import type { ChainFactHandler, Deposit, EscrowWatch } from '../../../chain/watcher/chain-facts.ts';
import { watchAgain, watchEscrow } from '../../../chain/watcher/watch.store.ts';
import { SYSTEM } from '../../../db/database.ts';
import { execute } from '../../../engine/execute.ts';
import type { Intent } from '../../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../../engine/intent-handler.ts';
import { postEntry } from '../../../engine/ledger.ts';
import type { UnitDeps, UnitOfWork } from '../../../engine/unit-of-work.ts';
import { schedule } from '../../../lib/backoff.ts';
import { depositNotNeeded, heldEntry, isSigned, tokenOf } from '../deposits/deposit.adapter.ts';
import { depositsOfOrder } from '../deposits/deposit.store.ts';
import type { OrderAdapters } from '../lifecycle/order.adapter.ts';
import { findOrder, lockOrder, setTransactionHash } from '../lifecycle/order.store.ts';
import type { OrderEscrow, OrderRow } from '../lifecycle/order.ts';
import { depositOf, ensureEscrow, FUNDED } from './escrow.ts';

/** Makes an order's escrow known to the chain watcher, which also looks through the blocks before it was. */
export function escrowFundingHandler(
  deps: UnitDeps & { readonly chains: Chains },
): IntentHandler<'escrow.deploy-and-watch'> {
  async function register({ payload }: Intent<'escrow.deploy-and-watch'>): Promise<Outcome> {
    const [found] = await deps.db.query(SYSTEM, findOrder, [payload.order_id]);
    const order = found && (await ensureEscrow(deps, found));
    if (order?.escrow == null) return { kind: 'failed', error: 'the order has no escrow' };
    const { settings } = deps.chains.get(order.chain);
    const watch = watchOf(settings, order, order.escrow);
    return {
      kind: 'confirmed',
      result: { watched: watch.address },
      followUp: async (unit) => watchEscrow(unit, settings.chainId, watch),
    };
  }
  return {
    schedule: schedule([5], { maxAttempts: 1_000 }),
    perform: register,
  };
}

/**
 * What a deposit means for its order: the exact one funds it. Any other, and one that the order has no use for, is held
 * for a person to decide, and in the books from then on.
 */
export function creditDeposits(deps: {
  readonly orderAdapters: OrderAdapters;
  readonly chains: Chains;
}): ChainFactHandler {
  return async (fact, unit) => {
    if (fact.type !== 'deposit') return;
    const { settings } = deps.chains.all.find((chain) => chain.settings.chainId === fact.chainId) ?? {};
    if (settings === undefined) throw new Error(`chain ${fact.chainId} is not connected`);
    if (fact.kind !== 'exact') {
      bookHeld(unit, fact, settings);
      return;
    }
    const obstacle = await fund(unit, fact);
    if (obstacle === null) return;
    const deposits = await unit.tx.query(depositsOfOrder, [fact.orderId]);
    const deposit = deposits.find(({ deposit_id }) => deposit_id === fact.depositId);
    if (deposit !== undefined) depositNotNeeded(unit, deposit, settings, obstacle);
  };

  /** Null where the order took it, else why not. */
  async function fund(unit: UnitOfWork, fact: Deposit): Promise<string | null> {
    const [order] = await unit.tx.query(lockOrder, [fact.orderId]);
    if (order === undefined) return 'there is no such order';
    // The order's own payout has the escrow's first nonce; where a return has used it, no payout could follow.
    const others = await unit.tx.query(depositsOfOrder, [fact.orderId]);
    if (others.some(isSigned)) return 'the escrow has paid something back';
    const trigger = FUNDED[order.direction];
    const execution = execute(unit, deps.orderAdapters[order.direction], order, trigger, 'chain');
    if (execution.kind !== 'moved') return `the order was ${order.status}`;
    unit.tx.defer(setTransactionHash, [order.order_id, fact.txHash]);
    watchAgain(unit, order.order_id);
    return null;
  }
}

/** A token that the chain is not configured for is booked when it is really moved: anyone can log a transfer of one. */
function bookHeld(unit: UnitOfWork, fact: Deposit, settings: ChainSettings): void {
  if (tokenOf(settings, fact.token) === undefined) return;
  const { depositId: deposit_id, orderId: order_id, partnerId: partner_id, token, sender, amount } = fact;
  postEntry(unit, heldEntry({ deposit_id, order_id, partner_id, token, sender }, amount, settings));
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
