import { CausewayError, formatFixed, ORDER_MACHINES } from '@causeway/protocol';
import { type Hex, tokenByCode } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import { escrowNonce } from '../../../chain/escrow/escrow-execution.ts';
import { findExecution } from '../../../chain/escrow/executions.store.ts';
import { tokenBalance } from '../../../chain/token-reads.ts';
import { answered, ChainUnavailableError } from '../../../chain/transactions/transaction-rpc.ts';
import { readCursor } from '../../../chain/watcher/watch.store.ts';
import { type Database, SYSTEM } from '../../../db/database.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import { loadOrderForAction, moveOrder, readOrder } from '../lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../lifecycle/order.adapter.ts';
import { setTransactionHash } from '../lifecycle/order.store.ts';
import type { OrderRow } from '../lifecycle/order.ts';
import { bookedEscrow, executionsOf } from './escrow.store.ts';
import { depositOf, payoutOf } from './escrow.ts';

/** What the chain shows of an escrow that its owners are said to have emptied. */
export type Settlement =
  | { readonly kind: 'emptied'; readonly txHashes: readonly [Hex, ...Hex[]] }
  | { readonly kind: 'not_emptied'; readonly why: string }
  | { readonly kind: 'unreachable' };

interface SettlementDeps {
  readonly db: Database;
  readonly chains: Chains;
}

/** Asks the chain, outside any transaction. Refuses nothing: the decision does. */
export async function lookForSettlement(deps: SettlementDeps, orderId: string): Promise<Settlement> {
  const order = await readOrder(deps.db, SYSTEM, orderId);
  if (order?.escrow == null) return { kind: 'not_emptied', why: 'The order has no escrow.' };
  try {
    return await settlementOf(deps, order, order.escrow.address);
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    return { kind: 'unreachable' };
  }
}

async function settlementOf(
  { db, chains }: SettlementDeps,
  order: OrderRow,
  address: Hex,
): Promise<Settlement> {
  const no = (why: string) => ({ kind: 'not_emptied', why }) as const;
  const chain = chains.get(order.chain);
  const { client, settings } = chain;
  const cursor = await readCursor(db, settings.chainId);
  // What has been read is final.
  const at = cursor?.blockNumber;
  if (at === undefined || (await escrowNonce(client, address, at)) === 0n) {
    return no('Nothing has left the escrow in a final block.');
  }
  const token = tokenByCode(settings, order.crypto_currency).address;
  const left = await answered(tokenBalance(client, token, address, at));
  if (left > 0n) {
    const amount = formatFixed(left, order.crypto_decimals);
    return no(`The escrow still holds ${amount} ${order.crypto_currency}: its owners move the rest first.`);
  }
  const { hash } = payoutOf(chain, order, isStopped(order) ? 'refund' : 'release');
  const [executions, own, [books]] = await Promise.all([
    db.query(SYSTEM, executionsOf, [settings.chainId, address]),
    findExecution(db, settings.chainId, address, hash),
    db.query(SYSTEM, bookedEscrow, [order.order_id]),
  ]);
  const [last, ...earlier] = executions.map(({ tx_hash }) => tx_hash);
  if (last === undefined)
    return no('What emptied it is not on record: search the chain again for the escrow.');
  if (own.txHash !== null) {
    return no('It was the order’s own payout that emptied it: start that again, and it is found.');
  }
  if (books !== undefined && BigInt(books.booked) !== depositOf(order)) {
    return no('More than the order’s own deposit is booked in it: decide its other deposits first.');
  }
  return { kind: 'emptied', txHashes: [last, ...earlier] };
}

const isStopped = ({ direction, status }: OrderRow) =>
  ORDER_MACHINES[direction].statuses[status]?.outcome === 'stopped';

/** Ends the order in the operator's name: what was in its escrow is booked as moved by the owners themselves. */
export async function settleElsewhere(
  unit: UnitOfWork,
  adapters: OrderAdapters,
  orderId: string,
  seen: Settlement,
): Promise<{ readonly before: OrderRow; readonly after: OrderRow; readonly txHashes: readonly Hex[] }> {
  const before = await loadOrderForAction(unit, orderId);
  const after = moveOrder(unit, adapters, before, 'escrow_settled_elsewhere', 'operator');
  if (seen.kind === 'unreachable') throw new CausewayError('TRANSACTOR_UNAVAILABLE');
  if (seen.kind === 'not_emptied') throw new CausewayError('OPERATION_NOT_ALLOWED', { message: seen.why });
  unit.tx.defer(setTransactionHash, [after.order_id, seen.txHashes[0]]);
  return { before, after, txHashes: seen.txHashes };
}
