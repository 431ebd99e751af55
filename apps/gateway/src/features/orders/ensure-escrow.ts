import { CausewayError } from '@causeway/protocol';
import type { Chains } from '../../chain/chains.ts';
import { SYSTEM } from '../../db/database.ts';
import { type UnitTools, unitOfWork } from '../../engine/unit-of-work.ts';
import { readWallets } from '../vendors/vendor-wallet.ts';
import { planEscrow } from './order.escrow.ts';
import { lockOrder } from './order.store.ts';
import type { OrderRow } from './order.types.ts';
import { recordEscrow } from './record-escrow.ts';

/**
 * An off-ramp order's escrow follows from its two sides and is fixed by whoever needs it first: initiating an order
 * does not wait for it. Under the order's lock, so there is only ever one.
 */
export async function ensureEscrow(
  tools: UnitTools & { readonly chains: Chains },
  known: OrderRow,
): Promise<OrderRow> {
  if (known.escrow !== null || known.vendor_id === null) return known;
  const wallets = await readWallets(tools.db, { vendorId: known.vendor_id, partnerId: known.partner_id });
  return unitOfWork(tools, SYSTEM, async (unit) => {
    const [order] = await unit.tx.query(lockOrder, [known.order_id]);
    if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
    if (order.escrow !== null || order.vendor_id !== known.vendor_id) return order;
    const [seller, buyer] =
      order.direction === 'onramp' ? [wallets.vendor, wallets.partner] : [wallets.partner, wallets.vendor];
    const escrow = planEscrow(tools.chains, order, seller, buyer);
    recordEscrow(unit, order.order_id, escrow);
    return { ...order, escrow };
  });
}
