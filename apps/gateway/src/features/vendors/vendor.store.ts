import { statement } from '../../db/statement.ts';

export interface VendorRow {
  vendor_id: string;
  name: string;
  wallet_address: `0x${string}`;
  simulated_key_sealed: string | null;
}

const COLUMNS = 'vendor_id, name, wallet_address, simulated_key_sealed';

export const findVendor = statement<[vendorId: string], VendorRow>(
  'vendors.find',
  `SELECT ${COLUMNS} FROM vendors WHERE vendor_id = $1`,
);

export const listVendors = statement<[], VendorRow>(
  'vendors.list',
  `SELECT ${COLUMNS} FROM vendors WHERE active ORDER BY vendor_id`,
);

export const partnerWallet = statement<[partnerId: string], { wallet_address: `0x${string}` }>(
  'vendors.partner_wallet',
  'SELECT wallet_address FROM partners WHERE partner_id = $1',
);

export const vendorProfile = statement<
  [vendorId: string],
  {
    vendor_id: string;
    name: string;
    wallet_address: string;
    kind: 'p2p' | 'direct';
    active: boolean;
    online: boolean;
  }
>(
  'vendors.profile',
  'SELECT vendor_id, name, wallet_address, kind, active, online FROM vendors WHERE vendor_id = $1',
);
