import { type Database, SYSTEM } from '../../db/database.ts';
import type { Sealer } from '../../lib/crypto.ts';
import { findVendor, listVendors, type VendorRow } from './vendor.store.ts';

/** A vendor whose key the sandbox keeps. */
export interface SimulatedVendor {
  readonly row: VendorRow;
  readonly privateKey: `0x${string}`;
}

export function vendorKeyContext(vendorId: string): string {
  return `vendors.simulated_key:${vendorId}`;
}

export async function findSimulatedVendor(
  db: Database,
  sealer: Sealer,
  vendorId: string,
): Promise<SimulatedVendor | undefined> {
  const [row] = await db.query(SYSTEM, findVendor, [vendorId]);
  return row === undefined ? undefined : opened(sealer, row);
}

export async function listSimulatedVendors(db: Database, sealer: Sealer): Promise<SimulatedVendor[]> {
  const rows = await db.query(SYSTEM, listVendors, []);
  return rows.map((row) => opened(sealer, row)).filter((vendor) => vendor !== undefined);
}

function opened(sealer: Sealer, row: VendorRow): SimulatedVendor | undefined {
  if (row.simulated_key_sealed === null) return undefined;
  const privateKey = sealer.open(row.simulated_key_sealed, vendorKeyContext(row.vendor_id)) as `0x${string}`;
  return { row, privateKey };
}
