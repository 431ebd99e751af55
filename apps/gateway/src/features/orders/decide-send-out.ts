import { CausewayError } from '@causeway/protocol';
import { currentSendOut } from '../../chain/authorization.store.ts';
import type { Authorization } from '../../chain/authorization.ts';
import { claimPayout } from '../../chain/bridge-payout.store.ts';
import { type SeenPayout as PayoutOnChain, seePayout } from '../../chain/bridge-payout.ts';
import type { Hex } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { ChainUnavailableError } from '../../chain/transaction-rpc.ts';
import { SYSTEM } from '../../db/database.ts';
import { answerIntent } from '../../engine/stuck-intents.store.ts';
import { type UnitOfWork, type UnitTools, unitOfWork } from '../../engine/unit-of-work.ts';
import { loadOrderForAction, moveOrder } from './act-on-order.ts';
import type { OrderHosts } from './order.host.ts';
import { setSendOutHash } from './order.store.ts';
import type { OrderRow } from './order.types.ts';
import { TRACK } from './track-send-out.effect.ts';

/** What an operator has found out about a send-out whose bridge was paid and does not answer. */
export type SendOutEnd =
  | { readonly outcome: 'settled'; readonly txHash: Hex }
  | { readonly outcome: 'failed' };

/** What the other chain shows of the payout that the operator names, and of which send-out that was asked. */
export interface SeenPayout {
  readonly authorizationId: string | null;
  readonly sight: PayoutOnChain['sight'] | 'unreachable';
  readonly payout: PayoutOnChain | null;
}

export interface DecidedSendOut {
  readonly before: OrderRow;
  readonly after: OrderRow;
}

const NOTE = 'answered by an operator';

/** Asks the other chain, outside any transaction. Refuses nothing: the decision does. */
export async function lookForPayout(
  tools: UnitTools & { readonly chains: Chains },
  orderId: string,
  txHash: Hex,
): Promise<SeenPayout> {
  const sendOut = await unitOfWork(tools, SYSTEM, (unit) => currentSendOut(unit, orderId));
  if (sendOut === undefined) return { authorizationId: null, sight: 'not_seen', payout: null };
  const { authorizationId } = sendOut.paid;
  try {
    const payout = await seePayout(tools.chains, sendOut.paid, txHash);
    return { authorizationId, sight: payout.sight, payout };
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    return { authorizationId, sight: 'unreachable', payout: null };
  }
}

/**
 * Ends a send-out in the operator's name. The bridge is asked no more: a late answer of its would otherwise be taken for
 * that of the next send-out.
 */
export async function decideSendOut(
  unit: UnitOfWork,
  hosts: OrderHosts,
  orderId: string,
  end: SendOutEnd,
  seen: SeenPayout | null,
): Promise<DecidedSendOut> {
  const sendOut = await currentSendOut(unit, orderId);
  // The worker locks what it asks about before the order; so does this.
  if (sendOut?.paid.bridge) {
    const status = end.outcome === 'settled' ? 'confirmed' : 'failed';
    await unit.tx.query(answerIntent, [TRACK, sendOut.paid.bridge.quoteId, status, unit.at, NOTE]);
  }
  const before = await loadOrderForAction(unit, orderId);
  if (end.outcome === 'failed') {
    const failed = moveOrder(unit, hosts, before, 'bridge_failed', 'operator');
    const paid = requireSilence(sendOut);
    const isOver = paid.status !== 'authorized';
    const after = isOver ? moveOrder(unit, hosts, failed, 'bridge_authorization_lapsed', 'chain') : failed;
    return { before, after };
  }
  const after = moveOrder(unit, hosts, before, 'bridge_settled', 'operator');
  await requirePayout(unit, requireSilence(sendOut), end.txHash, seen);
  unit.tx.defer(setSendOutHash, [orderId, end.txHash]);
  return { before, after };
}

/** Until it is overdue the bridge is believed, and a request that paid nobody ends by itself. */
function requireSilence(sendOut: Awaited<ReturnType<typeof currentSendOut>>): Authorization {
  if (sendOut === undefined || sendOut.paid.depositTxHash === null) {
    throw notAllowed('The bridge was not paid; the send-out ends by itself.');
  }
  if (sendOut.overdueAt === null) throw notAllowed('The bridge still has time to answer.');
  return sendOut.paid;
}

async function requirePayout(
  unit: UnitOfWork,
  paid: Authorization,
  txHash: Hex,
  seen: SeenPayout | null,
): Promise<void> {
  if (seen?.sight === 'unreachable') throw new CausewayError('TRANSACTOR_UNAVAILABLE');
  const isProven = seen?.sight === 'arrived' || seen?.sight === 'elsewhere';
  if (!isProven || seen.payout === null || seen.authorizationId !== paid.authorizationId) {
    throw notAllowed('The other chain does not show this payout.');
  }
  if (!(await claimPayout(unit, paid, txHash, seen.payout))) {
    throw notAllowed('This payout is counted for another send-out.');
  }
}

function notAllowed(message: string): CausewayError {
  return new CausewayError('OPERATION_NOT_ALLOWED', { message });
}
