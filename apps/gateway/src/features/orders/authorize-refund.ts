import { setTimeout as sleep } from 'node:timers/promises';
import type { RefundAnswerSchema, RefundAuthorizationParametersSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { acceptOwnerSignature, refundParameters } from '../../chain/refund-authorization.ts';
import { partnerScope } from '../../db/database.ts';
import { type UnitOfWork, type UnitTools, unitOfWork } from '../../engine/unit-of-work.ts';
import { loadOrderForAction, moveOrder } from './act-on-order.ts';
import { orderToSign } from './authorize-transfer.ts';
import { depositOf, payoutOf } from './order.escrow.ts';
import type { OrderHosts } from './order.host.ts';
import type { OrderRow } from './order.types.ts';
import { readOrder } from './read-order.ts';
import { recordSignature } from './record-escrow.ts';

/** The Safe's own transaction that gives the whole deposit back to the partner's wallet. */
export async function refundAuthorizationParameters(
  tools: UnitTools & { readonly chains: Chains },
  partnerId: string,
  orderId: string,
): Promise<Static<typeof RefundAuthorizationParametersSchema>> {
  const order = await orderToSign(tools, partnerId, orderId, 'refund_authorized');
  const chain = tools.chains.get(order.chain);
  const { escrow, transaction } = payoutOf(chain, order, 'refund');
  return refundParameters(chain.settings, tokenByCode(chain.settings, order.crypto_currency), {
    orderId,
    escrow,
    transaction,
    deposit: depositOf(order),
  });
}

/**
 * Whether a refund is owed is asked first: a signature is looked at only where it could be used. The service adds its
 * own and executes.
 */
async function authorizeRefund(
  tools: { readonly chains: Chains; readonly orderHosts: OrderHosts },
  unit: UnitOfWork,
  orderId: string,
  signature: string,
): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  const refunding = moveOrder(unit, tools.orderHosts, order, 'refund_authorized', 'partner');
  const { escrow, hash } = payoutOf(tools.chains.get(order.chain), order, 'refund');
  const accepted = await acceptOwnerSignature(escrow, hash, ['seller'], signature);
  recordSignature(unit, order, 'refund', accepted.signer, accepted.signature);
  return refunding;
}

/** Well within what a caller waits for an answer. */
const WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 100;

/** Authorizes the refund, and answers its transaction where the chain is quick enough. */
export async function refundDeposit(
  tools: UnitTools & { readonly chains: Chains; readonly orderHosts: OrderHosts },
  partnerId: string,
  orderId: string,
  signature: string,
  waitMs = WAIT_MS,
): Promise<Static<typeof RefundAnswerSchema>> {
  const scope = partnerScope(partnerId);
  let order = await unitOfWork(tools, scope, (unit) => authorizeRefund(tools, unit, orderId, signature));
  for (let waited = 0; isInFlight(order) && waited < waitMs; waited += LOOK_AGAIN_MS) {
    await sleep(LOOK_AGAIN_MS);
    order = (await readOrder(tools.db, scope, orderId)) ?? order;
  }
  const { status, facts, tx_hash: txHash } = order;
  const isRefunded = facts.escrow === 'emptied' && txHash !== null;
  return { order_id: orderId, status, ...(isRefunded ? { tx_hash: txHash } : {}) };
}

function isInFlight({ facts }: OrderRow): boolean {
  return facts.escrow === 'refunding';
}
