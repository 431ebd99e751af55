import { type CsvFile, sampleText } from '../../http/csv-route.ts';
import { timeZone } from '../../lib/time-zone.ts';
import type { ExportedEarning, ExportedFee, ExportedOrder, ExportedPosting } from './export.store.ts';
import { feesFile, ledgerFile, ordersFile, type StatementLine, vendorFile } from './export-files.ts';
import type { ExportPeriod } from './export-period.ts';

/** A line of each file, for the description: written by the file's own columns, so that it is always right. */

const UTC = timeZone('UTC');
if (UTC === undefined) throw new Error('the runtime knows no time zones');
const AT = new Date('2026-11-15T10:00:00.000Z');
const PERIOD: ExportPeriod = { zone: UTC, firstDay: '2026-11-01', lastDay: '2026-11-30', from: AT, to: AT };
const ID = '0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10';
const TX_HASH = `0x${'5c'.repeat(32)}`;

const TRADED = {
  order_id: ID,
  reference_id: 'invoice-1001',
  order_type: 'onramp',
  chain: 'base-mainnet',
  crypto_currency: 'USDC',
  crypto_decimals: 6,
  crypto_amount: '108108108',
  platform_fee: '540540',
  platform_fee_pct: '0.5',
  partner_fee: '1081081',
  partner_fee_pct: '1',
};
const MONEY = { fiat_currency: 'EUR', fiat_decimals: 2, fiat_amount: '10000', rate: '0.925' };

const ORDER: ExportedOrder = {
  ...TRADED,
  ...MONEY,
  partner_id: ID,
  vendor_id: ID,
  user_id: ID,
  quote_id: ID,
  status: 'completed',
  origin: 'api',
  payment_method_slug: 'sepa',
  payment_network_slug: 'iban-sepa',
  payment_details_id: null,
  recipient_id: null,
  tx_hash: TX_HASH,
  send_out_tx_hash: null,
  created_at: AT,
  updated_at: AT,
  settled_at: AT,
  escrow_in: '108108108',
  escrow_out: '108108108',
  failure_code: null,
  cancelled_by: null,
};
const FEE: ExportedFee = { ...TRADED, entry_id: ID, booked_at: AT };
const POSTING: ExportedPosting = {
  entry_id: ID,
  line: 1,
  partner_id: ID,
  booked_at: AT,
  kind: 'escrow_released',
  order_id: ID,
  reference_id: 'invoice-1001',
  account: 'treasury:base-mainnet',
  asset: 'USDC@base-mainnet',
  amount: '540540',
  decimals: 6,
};
const EARNING: ExportedEarning = {
  ...MONEY,
  ...TRADED,
  direction: 'onramp',
  tx_hash: TX_HASH,
  settled_at: AT,
};

export const ORDERS_SAMPLE = sampleText(ordersFile(PERIOD, null, false), ORDER);
export const ALL_ORDERS_SAMPLE = sampleText(ordersFile(PERIOD, null, true), ORDER);
export const FEES_SAMPLE = sampleText(feesFile(PERIOD, ''), FEE);
export const LEDGER_SAMPLE = sampleText(
  ledgerFile(PERIOD, null, false, () => 6),
  POSTING,
);
export const BOOKS_SAMPLE = sampleText(
  ledgerFile(PERIOD, null, true, () => 6),
  POSTING,
);
export const VENDOR_SAMPLE = sampleText(vendorFile(PERIOD, ''), EARNING);

const DEPOSIT: StatementLine = {
  bookedAt: AT,
  kind: 'deposit',
  amount: 10_000n,
  balance: 10_000n,
  currency: 'EUR',
  decimals: 2,
  entryId: ID,
  orderId: null,
  reference: 'rent',
};

export const fiatAccountSample = (file: (period: ExportPeriod) => CsvFile<StatementLine>) =>
  sampleText(file(PERIOD), DEPOSIT);
