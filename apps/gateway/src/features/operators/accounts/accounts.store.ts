import { statement } from '../../../db/statement.ts';

export interface PartnerRow {
  partner_id: string;
  name: string;
  settlement_chain: string;
  wallet_address: string;
  platform_fee_pct: string;
  fiat_accounts_enabled: boolean;
  collection_enabled: boolean;
  open_order_limit: number | null;
  /** Whole dollars. */
  held_value_limit: number | null;
  customer_open_order_limit: number | null;
  customer_held_value_limit: number | null;
  created_at: Date;
}

const COLUMNS = `partner_id, name, settlement_chain, wallet_address,
  trim_scale(platform_fee_pct)::text AS platform_fee_pct, fiat_accounts_enabled, collection_enabled,
  open_order_limit, held_value_limit::float8, customer_open_order_limit, customer_held_value_limit::float8, created_at`;

export const insertPartner = statement<
  [
    partnerId: string,
    name: string,
    settlementChain: string,
    walletAddress: string,
    platformFeePct: string,
    fiatAccountsEnabled: boolean,
    collectionEnabled: boolean,
    webhookSecretSealed: string,
    at: Date,
  ],
  PartnerRow
>(
  'operators.insert_partner',
  `INSERT INTO partners (partner_id, name, settlement_chain, wallet_address, platform_fee_pct, fiat_accounts_enabled,
     collection_enabled, webhook_secret_sealed, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING ${COLUMNS}`,
);

export const updatePartner = statement<
  [
    partnerId: string,
    name: string,
    walletAddress: string,
    platformFeePct: string,
    fiatAccountsEnabled: boolean,
    collectionEnabled: boolean,
    openOrderLimit: number | null,
    heldValueLimit: number | null,
    customerOpenOrderLimit: number | null,
    customerHeldValueLimit: number | null,
  ],
  PartnerRow
>(
  'operators.update_partner',
  `UPDATE partners SET name = $2, wallet_address = $3, platform_fee_pct = $4, fiat_accounts_enabled = $5,
          collection_enabled = $6, open_order_limit = $7, held_value_limit = $8, customer_open_order_limit = $9,
          customer_held_value_limit = $10
    WHERE partner_id = $1 RETURNING ${COLUMNS}`,
);

export const findPartner = statement<[partnerId: string], PartnerRow>(
  'operators.find_partner',
  `SELECT ${COLUMNS} FROM partners WHERE partner_id = $1`,
);

export const lockPartner = statement<[partnerId: string], PartnerRow>(
  'operators.lock_partner',
  `SELECT ${COLUMNS} FROM partners WHERE partner_id = $1 FOR NO KEY UPDATE`,
);

export const listPartners = statement<[limit: number, offset: number], PartnerRow>(
  'operators.list_partners',
  `SELECT ${COLUMNS} FROM partners ORDER BY created_at DESC, partner_id DESC LIMIT $1 OFFSET $2`,
);

export const countPartners = statement<[], { total: string }>(
  'operators.count_partners',
  'SELECT count(*) AS total FROM partners',
);

export const isPartnerWallet = statement<[walletAddress: string], { taken: boolean }>(
  'operators.is_partner_wallet',
  'SELECT EXISTS (SELECT FROM partners WHERE lower(wallet_address) = lower($1)) AS taken',
);

export interface VendorRow {
  vendor_id: string;
  name: string;
  wallet_address: string;
  kind: 'p2p' | 'direct';
  active: boolean;
  online: boolean;
  created_at: Date;
}

const VENDOR_COLUMNS = 'vendor_id, name, wallet_address, kind, active, online, created_at';

export const insertVendor = statement<
  [vendorId: string, name: string, walletAddress: string, kind: VendorRow['kind'], at: Date],
  VendorRow
>(
  'operators.insert_vendor',
  `INSERT INTO vendors (vendor_id, name, wallet_address, kind, created_at)
   VALUES ($1, $2, $3, $4, $5) RETURNING ${VENDOR_COLUMNS}`,
);

export const setVendorActive = statement<[vendorId: string, active: boolean], VendorRow>(
  'operators.set_vendor_active',
  `UPDATE vendors SET active = $2 WHERE vendor_id = $1 RETURNING ${VENDOR_COLUMNS}`,
);

export const findVendor = statement<[vendorId: string], VendorRow>(
  'operators.find_vendor',
  `SELECT ${VENDOR_COLUMNS} FROM vendors WHERE vendor_id = $1`,
);

export const lockVendor = statement<[vendorId: string], VendorRow>(
  'operators.lock_vendor',
  `SELECT ${VENDOR_COLUMNS} FROM vendors WHERE vendor_id = $1 FOR NO KEY UPDATE`,
);

export const listVendors = statement<[limit: number, offset: number], VendorRow>(
  'operators.list_vendors',
  `SELECT ${VENDOR_COLUMNS} FROM vendors ORDER BY created_at DESC, vendor_id DESC LIMIT $1 OFFSET $2`,
);

export const countVendors = statement<[], { total: string }>(
  'operators.count_vendors',
  'SELECT count(*) AS total FROM vendors',
);

export const isVendorWallet = statement<[walletAddress: string], { taken: boolean }>(
  'operators.is_vendor_wallet',
  'SELECT EXISTS (SELECT FROM vendors WHERE lower(wallet_address) = lower($1)) AS taken',
);
