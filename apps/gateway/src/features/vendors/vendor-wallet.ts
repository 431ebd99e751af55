import { type Database, SYSTEM } from '../../db/database.ts';
import { findVendor } from './vendor.store.ts';

/** Where a vendor is paid. Partners cannot read vendors, so it is read for them. */
export async function readVendorWallet(db: Database, vendorId: string): Promise<`0x${string}`> {
  const [vendor] = await db.query(SYSTEM, findVendor, [vendorId]);
  if (vendor === undefined) throw new Error(`there is no vendor ${vendorId}`);
  return vendor.wallet_address;
}
