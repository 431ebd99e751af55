import type { RefundAuthorizationParametersSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { acceptRefundSignature, refundParameters } from '../../chain/refund-authorization.ts';
import type { UnitOfWork, UnitTools } from '../../engine/unit-of-work.ts';
import { loadOrderForAction, moveOrder } from './act-on-order.ts';
import { orderToSign } from './authorize-transfer.ts';
import { depositOf, payoutOf } from './order.escrow.ts';
import type { OrderHosts } from './order.host.ts';
import type { OrderRow } from './order.types.ts';
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
export async function authorizeRefund(
  tools: { readonly chains: Chains; readonly orderHosts: OrderHosts },
  unit: UnitOfWork,
  orderId: string,
  signature: string,
): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  const refunding = moveOrder(unit, tools.orderHosts, order, 'refund_authorized', 'partner');
  const { escrow, transaction } = payoutOf(tools.chains.get(order.chain), order, 'refund');
  const accepted = await acceptRefundSignature(escrow, transaction, signature);
  recordSignature(unit, order, 'refund', escrow.parties.seller, accepted);
  return refunding;
}
