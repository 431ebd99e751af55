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

const partnerStatements = accountStatements<PartnerRow>('partner', COLUMNS);
export const findPartner = partnerStatements.find;
export const lockPartner = partnerStatements.lock;
export const listPartners = partnerStatements.list;
export const countPartners = partnerStatements.count;
export const isPartnerWallet = partnerStatements.isWallet;

export interface VendorRow {
  vendor_id: string;
  name: string;
  wallet_address: string;
  kind: 'p2p' | 'direct';
  active: boolean;
  online: boolean;
  completed_orders: number;
  failed_orders: number;
  disputed_orders: number;
  created_at: Date;
}

const VENDOR_COLUMNS = `vendor_id, name, wallet_address, kind, active, online, completed_orders::int, failed_orders::int,
  disputed_orders::int, created_at`;

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

const vendorStatements = accountStatements<VendorRow>('vendor', VENDOR_COLUMNS);
export const findVendor = vendorStatements.find;
export const lockVendor = vendorStatements.lock;
export const listVendors = vendorStatements.list;
export const countVendors = vendorStatements.count;
export const isVendorWallet = vendorStatements.isWallet;

/** What is asked about partners and vendors alike. */
function accountStatements<Row>(account: 'partner' | 'vendor', columns: string) {
  const [table, id] = [`${account}s`, `${account}_id`];
  return {
    find: statement<[accountId: string], Row>(
      `operators.find_${account}`,
      `SELECT ${columns} FROM ${table} WHERE ${id} = $1`,
    ),
    lock: statement<[accountId: string], Row>(
      `operators.lock_${account}`,
      `SELECT ${columns} FROM ${table} WHERE ${id} = $1 FOR NO KEY UPDATE`,
    ),
    list: statement<[limit: number, offset: number], Row>(
      `operators.list_${table}`,
      `SELECT ${columns} FROM ${table} ORDER BY created_at DESC, ${id} DESC LIMIT $1 OFFSET $2`,
    ),
    count: statement<[], { total: string }>(
      `operators.count_${table}`,
      `SELECT count(*) AS total FROM ${table}`,
    ),
    isWallet: statement<[walletAddress: string], { taken: boolean }>(
      `operators.is_${account}_wallet`,
      `SELECT EXISTS (SELECT FROM ${table} WHERE lower(wallet_address) = lower($1)) AS taken`,
    ),
  };
}
