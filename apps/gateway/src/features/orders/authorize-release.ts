import {
  type Actor,
  formatFixed,
  type OrderTrigger,
  type RefundAuthorizationParametersSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { acceptOwnerSignature, refundParameters } from '../../chain/refund-authorization.ts';
import type { UnitOfWork, UnitTools } from '../../engine/unit-of-work.ts';
import { loadOrderForAction, moveOrder } from './act-on-order.ts';
import { orderToSign } from './authorize-transfer.ts';
import { depositOf, type PayoutPurpose, payoutOf } from './order.escrow.ts';
import type { OrderHosts } from './order.host.ts';
import type { OrderRow } from './order.types.ts';
import { recordSignature } from './record-escrow.ts';

type SigningParameters = Static<typeof RefundAuthorizationParametersSchema>;

/** The fact that a handed-over signature reports. */
export const SIGNED: Readonly<Record<PayoutPurpose, OrderTrigger>> = {
  release: 'release_authorized',
  refund: 'refund_authorized',
};

/** The Safe's own transaction that pays the escrow out, as one of its owners signs it. */
export function signingParameters(
  chains: Chains,
  order: OrderRow,
  purpose: PayoutPurpose,
  signer: 'seller' | 'buyer',
): SigningParameters {
  const chain = chains.get(order.chain);
  const token = tokenByCode(chain.settings, order.crypto_currency);
  const { escrow, transaction } = payoutOf(chain, order, purpose);
  const deposit = depositOf(order);
  const parameters = refundParameters(chain.settings, token, {
    orderId: order.order_id,
    escrow,
    transaction,
    deposit,
  });
  const amount = purpose === 'refund' ? deposit : BigInt(order.crypto_amount) - BigInt(order.platform_fee);
  return {
    ...parameters,
    signer_address: escrow.parties[signer],
    recipient_address: escrow.parties[purpose === 'refund' ? 'seller' : 'buyer'],
    amount_atomic: `${amount}`,
    amount_human: formatFixed(amount, token.decimals),
    authorization_path: `/api/v1/partner/orders/${order.order_id}/authorize-${purpose}`,
  };
}

/** What the partner signs to be paid after a dispute that was decided for it. */
export async function releaseAuthorizationParameters(
  tools: UnitTools & { readonly chains: Chains },
  partnerId: string,
  orderId: string,
): Promise<SigningParameters> {
  const order = await orderToSign(tools, partnerId, orderId, 'release_authorized');
  return signingParameters(tools.chains, order, 'release', 'buyer');
}

/** Whether the order waits for a signature is asked first; the service adds its own and executes. */
export async function authorizePayout(
  tools: { readonly chains: Chains; readonly orderHosts: OrderHosts },
  unit: UnitOfWork,
  orderId: string,
  given: {
    readonly purpose: PayoutPurpose;
    readonly actor: Actor;
    readonly owners: readonly ('seller' | 'buyer')[];
    readonly signature: string;
  },
): Promise<{ readonly before: OrderRow; readonly after: OrderRow }> {
  const order = await loadOrderForAction(unit, orderId);
  const after = moveOrder(unit, tools.orderHosts, order, SIGNED[given.purpose], given.actor);
  const payout = payoutOf(tools.chains.get(order.chain), order, given.purpose);
  const accepted = await acceptOwnerSignature(payout.escrow, payout.hash, given.owners, given.signature);
  recordSignature(unit, order, given.purpose, accepted.signer, accepted.signature);
  return { before: order, after };
}
