import type { VendorOrderDetail } from '@causeway/sdk';
import { reviewVendorFunding, reviewVendorRefund, reviewVendorRelease } from '@causeway/sdk/signing';
import { api } from '../../api/client.ts';
import type { PreparedSignature, PreparedTransaction } from '../../wallet/signing.tsx';
import { loadSigningTrust, trustFor } from '../../wallet/trust.ts';
import type { Names } from '../../wallet/words.ts';

/** What the vendor’s wallet is asked, after it has been held against the order. */

async function trustOf(order: VendorOrderDetail) {
  const [trusted, { wallet_address }] = await Promise.all([
    loadSigningTrust(order.order_id),
    api.vendor.profile(),
  ]);
  return trustFor(trusted, order.chain, wallet_address);
}

function namesOf(
  order: VendorOrderDetail,
  escrow: string,
  owners: { readonly seller: string; readonly buyer: string },
  trust: { readonly wallet: string; readonly treasury?: string },
  partner: string | null,
): Names {
  const other = order.direction === 'onramp' ? owners.buyer : owners.seller;
  return {
    ...(trust.treasury === undefined ? {} : { [trust.treasury]: 'the platform, as its fee' }),
    ...(partner === null ? {} : { [partner]: 'the partner, as its fee' }),
    [other]: order.direction === 'onramp' ? 'the buyer' : 'the seller',
    [trust.wallet]: 'your wallet',
    [escrow]: 'the escrow of this order',
  };
}

export async function preparePayout(
  order: VendorOrderDetail,
  purpose: 'refund' | 'release',
): Promise<PreparedSignature> {
  const [trust, parameters] = await Promise.all([
    trustOf(order),
    api.vendor.orders.signingParameters(order.order_id, { purpose }),
  ]);
  const review = purpose === 'refund' ? reviewVendorRefund : reviewVendorRelease;
  const reviewed = review({ order, parameters, trust });
  const { owners, escrow_address, partner_address } = parameters;
  return { reviewed, trust, names: namesOf(order, escrow_address, owners, trust, partner_address) };
}

export async function prepareFunding(order: VendorOrderDetail): Promise<PreparedTransaction> {
  const trust = await trustOf(order);
  const { transaction, chainId, transfer } = reviewVendorFunding({ order, trust });
  const owners = order.funding?.owners ?? { seller: '', buyer: '' };
  return { transaction, chainId, trust, names: namesOf(order, transfer.to, owners, trust, null) };
}
