import { causeway, say } from './sandbox.ts';

/**
 * A day's orders, fees and books (CSV exports) against each other and against the events that were sent, exact to the last
 * decimal. It lists what differs, and exits with 1 where something does.
 *
 * npx node examples/reconcile-day.ts [YYYY-MM-DD, in UTC; today]
 */
const [day = new Date().toISOString().slice(0, 10)] = process.argv.slice(2);
const ENDED = ['completed', 'cancelled', 'failed', 'send_out_completed', 'send_out_failed'];
const PLACES = 18;
type Row = Record<string, string>;

/** Decimals, never floats: `-1.5` in units of 10^-18, and back. */
const units = (text: string) => {
  const [whole = '0', part = ''] = text.split('.');
  return BigInt(whole + part.padEnd(PLACES, '0'));
};
const decimal = (value: bigint) => {
  const digits = String(value < 0n ? -value : value).padStart(PLACES + 1, '0');
  const text = `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`.replace(/\.?0+$/, '');
  return value < 0n ? `-${text}` : text;
};

/** RFC 4180: quoted cells hold commas and line breaks. Columns go by name, because new ones may be added. */
function rowsOf(csv: string): Row[] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== ',') rows.push([]);
  }
  const [names = [], ...lines] = rows.filter((row) => row.length > 1);
  return lines.map((line) => Object.fromEntries(names.map((name, index) => [name, line[index] ?? ''])));
}

/** Sums of a column, by what a row is counted under. */
function sums(rows: readonly Row[], column: string, under: (row: Row) => string): Map<string, bigint> {
  const found = new Map<string, bigint>();
  for (const row of rows) found.set(under(row), (found.get(under(row)) ?? 0n) + units(row[column] ?? ''));
  return found;
}

const differences: string[] = [];
function compare(what: string, left = '0', right = '0'): void {
  if (left !== right) differences.push(`${what}: ${left} is not ${right}`);
}

const { events, exports } = causeway;
const period = { from: day, to: day };
const orders = rowsOf(await exports.orders(period));
const fees = rowsOf(await exports.fees(period));
const postings = rowsOf(await exports.ledger(period));
const assetOf = ({ crypto_currency, chain }: Row) => `${crypto_currency}@${chain}`;

// Double entry: each entry sums to zero in each asset, and the treasury got the platform's fees.
for (const [entry, sum] of sums(postings, 'amount', ({ entry_id, asset }) => `entry ${entry_id}, ${asset}`))
  compare(entry, decimal(sum));
const earned = sums(fees, 'platform_fee', assetOf);
const treasury = postings.filter(({ account }) => account?.startsWith('treasury:'));
const booked = sums(treasury, 'amount', ({ asset = '' }) => asset);
for (const asset of new Set([...earned.keys(), ...booked.keys()]))
  compare(`fees and treasury, ${asset}`, decimal(earned.get(asset) ?? 0n), decimal(booked.get(asset) ?? 0n));

// The last event of an order says how it ended, and its escrow is empty then.
const last = new Map<unknown, Row>();
for await (const { event_type, data } of events.list({ after: '0' }))
  if (event_type === 'order.status.changed') last.set(data.order_id, { ...data } as object as Row);
for (const order of orders.filter(({ status = '' }) => ENDED.includes(status))) {
  for (const field of ['status', 'crypto_amount', 'fiat_amount'])
    compare(`${field} of ${order.order_id}`, last.get(order.order_id)?.[field], order[field]);
  compare(`escrow of ${order.order_id}`, order.escrow_out, order.escrow_in);
}

say('day', `${day}: ${orders.length} orders, ${fees.length} settled, ${postings.length} postings`);
for (const column of ['crypto_amount', 'platform_fee', 'partner_fee'])
  for (const [asset, sum] of sums(fees, column, assetOf)) say(column, `${decimal(sum)} ${asset}`);
for (const difference of differences) say('differs', difference);
say('differences', String(differences.length));
process.exitCode = Math.min(differences.length, 1);
