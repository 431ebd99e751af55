import { CausewayError, formatFixed } from '@causeway/protocol';
import type { Snapshot } from '../../db/database.ts';
import type { CsvFile } from '../../http/csv-route.ts';
import { type CsvColumn, numberColumn as number, textColumn as text } from '../../lib/csv.ts';
import type { TimeZone } from '../../lib/time-zone.ts';
import type { Vault, Vaults } from '../../vault/vault.ts';
import {
  accountNumberIn,
  entryKindOf,
  ledgerAccountOf,
  paymentDetailsOf,
} from '../fiat-accounts/fiat-account.ts';
import { earningView } from '../orders/lifecycle/list-orders.ts';
import { userKeyOwner } from '../users/user.ts';
import {
  accountOfPartner,
  balanceBefore,
  type ExportedEarning,
  type ExportedFee,
  type ExportedOrder,
  type ExportedPosting,
  earningsOfVendor,
  entriesOfAccount,
  feesOfPartner,
  type OrderFilter,
  ordersOfAll,
  ordersOfPartner,
  postingsOfAll,
  postingsOfPartner,
  type StatementEntry,
} from './export.store.ts';
import type { ExportPeriod } from './export-period.ts';

/** What each file holds. Columns are added at the end; docs/guides/exports.md says what they mean. */

/** Null for all partners, which only an operator may ask for. */
type Owner = string | null;

function fileName(what: string, { firstDay, lastDay }: ExportPeriod): string {
  return `${what}_${firstDay}_${lastDay}.csv`;
}

const EVERY_ORDER: OrderFilter = [null, null, null, null];

export function ordersFile(
  period: ExportPeriod,
  owner: Owner,
  forOperator: boolean,
  filter: OrderFilter = EVERY_ORDER,
): CsvFile<ExportedOrder> {
  const { from, to } = period;
  return {
    name: fileName('orders', period),
    columns: [...(forOperator ? OPERATOR_COLUMNS : []), ...orderColumns(period.zone)],
    pages: (snapshot) =>
      owner === null
        ? snapshot.pages(ordersOfAll, [from, to])
        : snapshot.pages(ordersOfPartner, [from, to, owner, ...filter]),
  };
}

const OPERATOR_COLUMNS: readonly CsvColumn<ExportedOrder>[] = [
  text('partner_id', (row) => row.partner_id),
  text('vendor_id', (row) => row.vendor_id),
];

function orderColumns(zone: TimeZone): readonly CsvColumn<ExportedOrder>[] {
  const crypto = (name: string, units: (row: ExportedOrder) => bigint) =>
    number<ExportedOrder>(name, (row) => formatFixed(units(row), row.crypto_decimals));
  return [
    text('order_id', (row) => row.order_id),
    text('reference_id', (row) => row.reference_id),
    text('created_at', (row) => zone.format(row.created_at)),
    text('updated_at', (row) => zone.format(row.updated_at)),
    text('settled_at', (row) => (row.settled_at === null ? null : zone.format(row.settled_at))),
    text('order_type', (row) => row.order_type),
    text('status', (row) => row.status),
    text('origin', (row) => row.origin),
    text('user_id', (row) => row.user_id),
    text('quote_id', (row) => row.quote_id),
    text('crypto_currency', (row) => row.crypto_currency),
    text('chain', (row) => row.chain),
    crypto('crypto_amount', (row) => BigInt(row.crypto_amount)),
    text('fiat_currency', (row) => row.fiat_currency),
    number('fiat_amount', (row) => formatFixed(BigInt(row.fiat_amount), row.fiat_decimals)),
    number('rate', (row) => row.rate),
    crypto('platform_fee', (row) => BigInt(row.platform_fee)),
    number('platform_fee_pct', (row) => row.platform_fee_pct),
    crypto('partner_fee', (row) => BigInt(row.partner_fee)),
    number('partner_fee_pct', (row) => row.partner_fee_pct),
    crypto('total_fee', (row) => BigInt(row.platform_fee) + BigInt(row.partner_fee)),
    crypto('escrow_in', (row) => BigInt(row.escrow_in)),
    crypto('escrow_out', (row) => BigInt(row.escrow_out)),
    text('payment_method_slug', (row) => row.payment_method_slug),
    text('payment_network_slug', (row) => row.payment_network_slug),
    text('payment_details_id', (row) => row.payment_details_id),
    text('recipient_id', (row) => row.recipient_id),
    text('tx_hash', (row) => row.tx_hash),
    text('send_out_tx_hash', (row) => row.send_out_tx_hash),
    text('failure_code', (row) => row.failure_code),
    text('cancelled_by', (row) => row.cancelled_by),
  ];
}

export function feesFile(period: ExportPeriod, partnerId: string): CsvFile<ExportedFee> {
  const crypto = (name: string, units: (row: ExportedFee) => bigint) =>
    number<ExportedFee>(name, (row) => formatFixed(units(row), row.crypto_decimals));
  return {
    name: fileName('fees', period),
    columns: [
      text('booked_at', (row) => period.zone.format(row.booked_at)),
      text('entry_id', (row) => row.entry_id),
      text('order_id', (row) => row.order_id),
      text('reference_id', (row) => row.reference_id),
      text('order_type', (row) => row.order_type),
      text('crypto_currency', (row) => row.crypto_currency),
      text('chain', (row) => row.chain),
      crypto('crypto_amount', (row) => BigInt(row.crypto_amount)),
      crypto('platform_fee', (row) => BigInt(row.platform_fee)),
      number('platform_fee_pct', (row) => row.platform_fee_pct),
      crypto('partner_fee', (row) => BigInt(row.partner_fee)),
      number('partner_fee_pct', (row) => row.partner_fee_pct),
      crypto('total_fee', (row) => BigInt(row.platform_fee) + BigInt(row.partner_fee)),
    ],
    pages: (snapshot) => snapshot.pages(feesOfPartner, [period.from, period.to, partnerId]),
  };
}

/** Undefined for a token that no chain is configured for. */
export type DecimalsOf = (asset: string) => number | undefined;

export function ledgerFile(
  period: ExportPeriod,
  owner: Owner,
  forOperator: boolean,
  decimalsOf: DecimalsOf,
): CsvFile<ExportedPosting> {
  const { zone, from, to } = period;
  return {
    name: fileName('ledger', period),
    columns: [
      ...(forOperator ? [text<ExportedPosting>('partner_id', (row) => row.partner_id)] : []),
      text('booked_at', (row) => zone.format(row.booked_at)),
      text('entry_id', (row) => row.entry_id),
      number('line', (row) => `${row.line}`),
      text('kind', (row) => row.kind),
      text('order_id', (row) => row.order_id),
      text('reference_id', (row) => row.reference_id),
      text('account', (row) => row.account),
      text('asset', (row) => row.asset),
      number('amount', (row) => {
        const decimals = row.decimals ?? decimalsOf(row.asset);
        return decimals === undefined ? null : formatFixed(BigInt(row.amount), decimals);
      }),
      number('amount_atomic', (row) => row.amount),
    ],
    pages: (snapshot) =>
      owner === null
        ? snapshot.pages(postingsOfAll, [from, to])
        : snapshot.pages(postingsOfPartner, [from, to, owner]),
  };
}

export function vendorFile(period: ExportPeriod, vendorId: string): CsvFile<ExportedEarning> {
  return {
    name: fileName('statement', period),
    columns: [
      text('settled_at', (row) => period.zone.format(row.settled_at)),
      text('order_id', (row) => row.order_id),
      text('direction', (row) => row.direction),
      text('crypto_currency', (row) => row.crypto_currency),
      text('chain', (row) => row.chain),
      number('crypto_received', (row) => earningView(row).crypto.received),
      number('crypto_paid', (row) => earningView(row).crypto.paid),
      text('fiat_currency', (row) => row.fiat_currency),
      number('fiat_received', (row) => earningView(row).fiat.received),
      number('fiat_paid', (row) => earningView(row).fiat.paid),
      number('rate', (row) => row.rate),
      text('tx_hash', (row) => row.tx_hash),
    ],
    pages: (snapshot) => snapshot.pages(earningsOfVendor, [period.from, period.to, vendorId]),
  };
}

/** A line of a bank statement; the first and the last say what was and what is on the account. */
export interface StatementLine {
  readonly bookedAt: Date;
  readonly kind: string;
  readonly amount: bigint | null;
  readonly balance: bigint;
  readonly currency: string;
  readonly decimals: number;
  readonly entryId: string | null;
  readonly orderId: string | null;
  readonly reference: string | null;
}

export function fiatAccountFile(
  period: ExportPeriod,
  partnerId: string,
  accountId: string,
  vaults: Vaults,
): CsvFile<StatementLine> {
  const accountNumber = accountNumberIn(accountId);
  // What was never given out is in no file's name either.
  if (accountNumber === undefined) throw new CausewayError('FIAT_ACCOUNT_NOT_FOUND');
  const money = (row: StatementLine, units: bigint) => formatFixed(units, row.decimals);
  return {
    name: fileName(accountId, period),
    columns: [
      text('booked_at', (row) => period.zone.format(row.bookedAt)),
      text('kind', (row) => row.kind),
      number('amount', (row) => (row.amount === null ? null : money(row, row.amount))),
      number('balance_after', (row) => money(row, row.balance)),
      text('currency', (row) => row.currency),
      text('entry_id', (row) => row.entryId),
      text('order_id', (row) => row.orderId),
      text('reference', (row) => row.reference),
    ],
    pages: (snapshot) => statementLines(snapshot, period, partnerId, accountNumber, vaults),
  };
}

async function* statementLines(
  snapshot: Snapshot,
  { from, to }: ExportPeriod,
  partnerId: string,
  accountNumber: string,
  vaults: Vaults,
): AsyncGenerator<StatementLine[]> {
  const [account] = await snapshot.query(accountOfPartner, [accountNumber, partnerId]);
  if (account === undefined) throw new CausewayError('FIAT_ACCOUNT_NOT_FOUND');
  const { currency, currency_decimals: decimals, user_id: userId, data_key_sealed: key } = account;
  const books = ledgerAccountOf(accountNumber);
  const vault = key === null ? null : vaults.open(key, userKeyOwner(userId));
  const [before] = await snapshot.query(balanceBefore, [books, currency, from]);
  let balance = BigInt(before?.balance ?? 0);
  const summary = (kind: string, bookedAt: Date): StatementLine => ({
    ...{ bookedAt, kind, amount: null, balance, currency, decimals },
    ...{ entryId: null, orderId: null, reference: null },
  });
  yield [summary('opening_balance', from)];
  for await (const entries of snapshot.pages(entriesOfAccount, [books, currency, from, to])) {
    yield entries.map((entry) => {
      const amount = BigInt(entry.amount);
      balance += amount;
      return { ...entryLine(vault, entry), amount, balance, currency, decimals };
    });
  }
  yield [summary('closing_balance', to)];
}

function entryLine(vault: Vault | null, entry: StatementEntry) {
  const kind = entryKindOf(entry.kind);
  const given = vault === null ? null : paymentDetailsOf(vault, entry).reference;
  return {
    bookedAt: entry.booked_at,
    kind,
    entryId: entry.entry_id,
    orderId: entry.order_id,
    reference: kind === 'collection' ? entry.settlement_id : given,
  };
}
