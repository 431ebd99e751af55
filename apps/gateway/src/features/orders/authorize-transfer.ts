import {
  CausewayError,
  decide,
  type ForwardRequestInput,
  ORDER_MACHINES,
  type OrderTrigger,
  type TransferAuthorizationParametersSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { acceptAuthorization } from '../../chain/accept-authorization.ts';
import { transferParameters } from '../../chain/authorization.ts';
import { tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { issueAuthorization } from '../../chain/issue-authorization.ts';
import { partnerScope } from '../../db/database.ts';
import type { UnitOfWork, UnitTools } from '../../engine/unit-of-work.ts';
import { loadOrderForAction, moveOrder } from './act-on-order.ts';
import { ensureEscrow } from './ensure-escrow.ts';
import { depositOf } from './order.escrow.ts';
import { factsOf, type OrderHosts } from './order.host.ts';
import { refusedTransition } from './order.refusals.ts';
import type { OrderEscrow, OrderRow } from './order.types.ts';
import { readOrder } from './read-order.ts';

export interface SignedTransfer {
  readonly forward_request: Static<typeof ForwardRequestInput>;
  readonly signature: string;
}

/** The order a partner wants to sign something for, refused as the signed request itself would be. */
export async function orderToSign(
  tools: UnitTools,
  partnerId: string,
  orderId: string,
  trigger: OrderTrigger,
): Promise<OrderRow> {
  const order = await readOrder(tools.db, partnerScope(partnerId), orderId);
  if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  const machine = ORDER_MACHINES[order.direction];
  const decision = decide(machine, order.status, trigger, factsOf(order), 'partner');
  if (decision.kind === 'refused') {
    throw refusedTransition({ kind: 'refused', code: decision.code, row: order });
  }
  return order;
}

export function escrowOfOrder(order: OrderRow): OrderEscrow {
  if (order.escrow === null) throw new Error(`order ${order.order_id} has no escrow`);
  return order.escrow;
}

/** What the partner signs to pay its deposit into the escrow. */
export async function transferAuthorizationParameters(
  tools: UnitTools & { readonly chains: Chains },
  partnerId: string,
  orderId: string,
): Promise<Static<typeof TransferAuthorizationParametersSchema>> {
  const wanted = await orderToSign(tools, partnerId, orderId, 'transfer_authorized');
  const order = await ensureEscrow(tools, wanted);
  const escrow = escrowOfOrder(order);
  const chain = tools.chains.get(order.chain);
  const token = tokenByCode(chain.settings, order.crypto_currency);
  const authorization = await issueAuthorization(tools, chain, {
    orderId,
    partnerId,
    sender: escrow.seller,
    token: token.address,
    amount: depositOf(order),
    recipient: escrow.address,
  });
  return transferParameters(chain.settings, token, authorization);
}

export async function authorizeCryptoTransfer(
  tools: { readonly chains: Chains; readonly orderHosts: OrderHosts },
  unit: UnitOfWork,
  orderId: string,
  signed: SignedTransfer,
): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  const authorized = moveOrder(unit, tools.orderHosts, order, 'transfer_authorized', 'partner');
  await acceptAuthorization(unit, tools.chains.get(order.chain).settings, {
    orderId,
    purpose: 'funding',
    forwardRequest: signed.forward_request,
    signature: signed.signature,
  });
  return authorized;
}
