import { randomBytes } from 'node:crypto';
import { localSigner, type Signer } from '../../chain/signers/keystore-signer.ts';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Sealer } from '../../lib/crypto.ts';
import {
  findVendor,
  findVendorByWallet,
  keepSimulatedKey,
  listVendors,
  type VendorRow,
} from './vendor.store.ts';

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

/** The signer of a simulated vendor's wallet. */
export async function findSimulatedSigner(
  db: Database,
  sealer: Sealer,
  address: string,
): Promise<Signer | undefined> {
  const [row] = await db.query(SYSTEM, findVendorByWallet, [address]);
  const vendor = row && opened(sealer, row);
  return vendor && localSigner(vendor.privateKey);
}

export interface NewWallet {
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
}

export function makeWallet(): NewWallet {
  const privateKey = `0x${randomBytes(32).toString('hex')}` as const;
  return { address: localSigner(privateKey).address, privateKey };
}

/** From now on the sandbox signs and pays for the vendor. */
export function keepWallet(unit: UnitOfWork, sealer: Sealer, vendorId: string, wallet: NewWallet): void {
  unit.tx.defer(keepSimulatedKey, [vendorId, sealer.seal(wallet.privateKey, vendorKeyContext(vendorId))]);
}

function opened(sealer: Sealer, row: VendorRow): SimulatedVendor | undefined {
  if (row.simulated_key_sealed === null) return undefined;
  const privateKey = sealer.open(row.simulated_key_sealed, vendorKeyContext(row.vendor_id)) as `0x${string}`;
  return { row, privateKey };
}
