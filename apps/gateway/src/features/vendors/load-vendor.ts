import { CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { VendorPrincipal } from '../../http/principals.ts';
import { findVendor, type VendorRow } from './vendor.store.ts';

/** The vendor that calls. */
export async function callingVendor(unit: UnitOfWork, { vendorId }: VendorPrincipal): Promise<VendorRow> {
  const [vendor] = await unit.tx.query(findVendor, [vendorId]);
  // A key outlives its vendor for as long as another process has not heard of it.
  if (vendor === undefined) throw new CausewayError('UNAUTHORIZED');
  return vendor;
}
