import { type Database, SYSTEM } from '../../db/database.ts';
import { findVendor, partnerWallet } from './vendor.store.ts';

/** The wallets of an order's two sides, as they are now. */
export async function readWallets(
  db: Database,
  { vendorId, partnerId }: { readonly vendorId: string; readonly partnerId: string },
): Promise<{ readonly vendor: string; readonly partner: string }> {
  const [[vendor], [partner]] = await db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(findVendor, [vendorId], partnerWallet, [partnerId]),
  );
  if (vendor === undefined || partner === undefined) throw new Error('an order has two sides');
  return { vendor: vendor.wallet_address, partner: partner.wallet_address };
}
