import { statement } from '../../db/statement.ts';

export interface VendorRow {
  vendor_id: string;
  name: string;
  wallet_address: string;
  kind: 'p2p' | 'direct';
  active: boolean;
  online: boolean;
  created_at: Date;
}

const COLUMNS = 'vendor_id, name, wallet_address, kind, active, online, created_at';

export const insertVendor = statement<
  [vendorId: string, name: string, walletAddress: string, kind: VendorRow['kind'], at: Date],
  VendorRow
>(
  'operators.insert_vendor',
  `INSERT INTO vendors (vendor_id, name, wallet_address, kind, created_at)
   VALUES ($1, $2, $3, $4, $5) RETURNING ${COLUMNS}`,
);

export const setVendorActive = statement<[vendorId: string, active: boolean], VendorRow>(
  'operators.set_vendor_active',
  `UPDATE vendors SET active = $2 WHERE vendor_id = $1 RETURNING ${COLUMNS}`,
);

export const findVendor = statement<[vendorId: string], VendorRow>(
  'operators.find_vendor',
  `SELECT ${COLUMNS} FROM vendors WHERE vendor_id = $1`,
);

export const lockVendor = statement<[vendorId: string], VendorRow>(
  'operators.lock_vendor',
  `SELECT ${COLUMNS} FROM vendors WHERE vendor_id = $1 FOR NO KEY UPDATE`,
);

export const listVendors = statement<[limit: number, offset: number], VendorRow>(
  'operators.list_vendors',
  `SELECT ${COLUMNS} FROM vendors ORDER BY created_at DESC, vendor_id DESC LIMIT $1 OFFSET $2`,
);

export const countVendors = statement<[], { total: string }>(
  'operators.count_vendors',
  'SELECT count(*) AS total FROM vendors',
);

export const isVendorWallet = statement<[walletAddress: string], { taken: boolean }>(
  'operators.is_vendor_wallet',
  'SELECT EXISTS (SELECT FROM vendors WHERE lower(wallet_address) = lower($1)) AS taken',
);
