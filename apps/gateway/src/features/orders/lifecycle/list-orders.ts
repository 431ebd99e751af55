import {
  CausewayError,
  formatFixed,
  type NextAction,
  nextAction,
  ORDER_MACHINES,
  type OrderQuery,
  orderStatusesThatKnow,
  orderStatusesWithOutcome,
  orderStatusesWithPartnerStep,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, partnerScope, type Scope, SYSTEM, vendorScope } from '../../../db/database.ts';
import { depositsOfOrder } from '../escrow/escrow.store.ts';
import {
  type BackofficeOrderRow,
  countOrdersOfVendor,
  type EarningRow,
  type EarningSumRow,
  earningSums,
  earnings,
  type ListedOrderRow,
  type NamedOrdersRow,
  type OrderFilters,
  orderForOperator,
  ordersByReference,
  ordersForOperator,
  ordersNamed,
  ordersOfUser,
  ordersOfVendor,
  ordersThatMayWaitForPartner,
  pageOfOrders,
  signedPayouts,
  someOrdersOfVendor,
} from './list-orders.store.ts';
import { factsOf } from './order.adapter.ts';
import { countPendingProofs, type PendingProofRow, pendingProofs } from './order.store.ts';
import type { OrderRow } from './order.ts';

interface OrderPage {
  readonly orders: readonly OrderRow[];
  readonly total: number;
}

/** A page of a partner's orders, newest first, and how many there are in all. */
export async function listOrders(
  db: Database,
  partnerId: string,
  query: Static<typeof OrderQuery>,
): Promise<OrderPage> {
  const { limit } = query;
  const offset = (query.page - 1) * limit;
  const userId = query.user_uuid ?? null;
  const referenceId = query.reference_id ?? null;
  const from = query.created_from === undefined ? '-infinity' : new Date(query.created_from);
  const to = query.created_to === undefined ? 'infinity' : new Date(query.created_to);
  const matching = [query.status ?? null, query.order_type ?? null, from, to] as const;
  const scope = partnerScope(partnerId);
  if (userId === null && referenceId === null) {
    const rows = await db.query(scope, pageOfOrders, [...matching, ...wholeDays(from, to), limit, offset]);
    return {
      orders: rows.filter((row): row is Extract<ListedOrderRow, OrderRow> => row.order_id !== null),
      total: Number(rows[0]?.total ?? 0),
    };
  }
  const list = referenceId !== null ? ordersByReference : ordersOfUser;
  const filters: OrderFilters = [...matching, userId, referenceId];
  const [orders, [count]] = await db.transaction(scope, (tx) =>
    tx.queryBoth(list.page, [...filters, limit, offset], list.count, filters),
  );
  return { orders, total: Number(count?.total ?? 0) };
}

/** The whole days (UTC) in a period; where there are none, its end twice. */
export function wholeDays<From extends string, To extends string>(
  from: Date | From,
  to: Date | To,
): [from: Date | From | To, to: Date | To] {
  const first = from instanceof Date ? new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS) : from;
  const end = to instanceof Date ? new Date(Math.floor(to.getTime() / DAY_MS) * DAY_MS) : to;
  return first instanceof Date && end instanceof Date && first >= end ? [to, to] : [first, end];
}

const DAY_MS = 86_400_000;

const PARTNER_STEPS = orderStatusesWithPartnerStep();

/** Orders whose next action is the partner’s, newest first, and which one it is. */
export async function listOrdersWaitingForPartner(
  db: Database,
  partnerId: string,
  limit: number,
): Promise<{ readonly order: OrderRow; readonly next: NextAction }[]> {
  const orders = await db.query(partnerScope(partnerId), ordersThatMayWaitForPartner, [
    partnerId,
    PARTNER_STEPS.underWay,
    PARTNER_STEPS.ended,
    limit,
  ]);
  return orders
    .map((order) => ({
      order,
      next: nextAction(ORDER_MACHINES[order.direction], order.status, factsOf(order)),
    }))
    .filter(({ next }) => next !== 'wait' && next !== 'none');
}

const SIGNABLE: ReadonlySet<string> = new Set(
  (['refund_authorized', 'release_authorized'] as const).flatMap(orderStatusesThatKnow),
);
const ENDED: ReadonlySet<string> = new Set(orderStatusesWithOutcome('settled', 'stopped'));
/** Statuses in which something is still to come, a refund or a release that waits for its signature included. */
const UNFINISHED = [
  ...new Set(Object.values(ORDER_MACHINES).flatMap(({ statusNames }) => statusNames)),
].filter((status) => !ENDED.has(status) || SIGNABLE.has(status));
const MOST_UNFINISHED = 100;

/** What a customer opened itself, newest first: all that is not finished, and the last few. Its scope hides the rest. */
export async function listCustomerOrders(
  db: Database,
  scope: Scope,
  userId: string,
  lastFew: number,
): Promise<OrderRow[]> {
  const [unfinished, newest] = await Promise.all(
    (
      [
        [UNFINISHED, MOST_UNFINISHED],
        [null, lastFew],
      ] as const
    ).map(([statuses, limit]) =>
      db.query(scope, ordersOfUser.page, [statuses, null, '-infinity', 'infinity', userId, null, limit, 0]),
    ),
  );
  const byId = new Map([...(newest ?? []), ...(unfinished ?? [])].map((order) => [order.order_id, order]));
  return [...byId.values()].sort((a, b) => b.created_at.getTime() - a.created_at.getTime());
}

export type { DepositRow } from '../escrow/escrow.store.ts';
export type { BackofficeOrderRow } from './list-orders.store.ts';

/** What vendors and operators read of orders. */

interface Page {
  readonly limit: number;
  readonly offset: number;
}

export async function readVendorOrders(
  db: Database,
  vendorId: string,
  filter: { readonly statuses: readonly string[] | null; readonly direction: string | null } & Page,
): Promise<{ orders: BackofficeOrderRow[]; total: number }> {
  const { statuses, direction, limit, offset } = filter;
  const [orders, [count]] = await db.transaction(vendorScope(vendorId), (tx) =>
    tx.queryBoth(ordersOfVendor, [vendorId, statuses, direction, limit, offset], countOrdersOfVendor, [
      vendorId,
      statuses,
      direction,
    ]),
  );
  return { orders, total: Number(count?.total ?? 0) };
}

/** Those of the orders that are this vendor's now, by their ids. */
export async function readOrdersOfVendor(
  db: Database,
  vendorId: string,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, BackofficeOrderRow>> {
  const rows = await db.query(vendorScope(vendorId), someOrdersOfVendor, [vendorId, orderIds]);
  return new Map(rows.map((row) => [row.order_id, row]));
}

export async function readVendorOrder(db: Database, vendorId: string, orderId: string) {
  const order = (await readOrdersOfVendor(db, vendorId, [orderId])).get(orderId);
  // Another vendor's order and none at all are the same to the caller.
  if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  const [signatures, deposits] = await db.transaction(vendorScope(vendorId), (tx) =>
    tx.queryBoth(signedPayouts, [orderId], depositsOfOrder, [orderId]),
  );
  return { order, signatures, deposits };
}

export async function readEarnings(
  db: Database,
  vendorId: string,
  period: { readonly from: Date | null; readonly to: Date | null },
  page: Page,
) {
  const [entries, sums] = await db.transaction(vendorScope(vendorId), (tx) =>
    tx.queryBoth(earnings, [vendorId, period.from, period.to, page.limit, page.offset], earningSums, [
      vendorId,
      period.from,
      period.to,
    ]),
  );
  return { entries, sums, total: sums.reduce((count, { orders }) => count + Number(orders), 0) };
}

export interface OperatorOrderFilter {
  /** Anything that names orders. */
  readonly search: string | null;
  readonly statuses: readonly string[] | null;
  readonly partnerId: string | null;
  readonly vendorId: string | null;
  readonly userId: string | null;
  readonly referenceId: string | null;
  readonly direction: string | null;
  readonly held: boolean | null;
  readonly stuck: boolean | null;
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
  /** An effect that was due before this, and has not been carried out, is stuck. */
  readonly lateBefore: Date;
  readonly before: string | null;
  readonly limit: number;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Orders of all partners, newest first. */
export async function readOrdersForOperator(
  db: Database,
  filter: OperatorOrderFilter,
): Promise<BackofficeOrderRow[]> {
  const found = filter.search === null ? undefined : await findNamed(db, filter.search);
  const party = found?.order_ids.length === 0 ? found : undefined;
  // Nothing is called that, or two parties are asked for at once.
  if (party !== undefined && party.partner_id === null && party.vendor_id === null && party.user_id === null)
    return [];
  const narrowed = (given: string | null, named: string | null | undefined) => given ?? named ?? null;
  return db.query(SYSTEM, ordersForOperator, [
    filter.statuses,
    narrowed(filter.partnerId, party?.partner_id),
    narrowed(filter.vendorId, party?.vendor_id),
    narrowed(filter.userId, party?.user_id),
    filter.referenceId,
    filter.direction,
    filter.held,
    filter.stuck,
    filter.createdFrom,
    filter.createdTo,
    filter.lateBefore,
    filter.limit,
    filter.before,
    found === undefined || party !== undefined ? null : found.order_ids,
  ]);
}

/** What the text is the name of: some orders, or one of the parties. */
async function findNamed(db: Database, search: string): Promise<NamedOrdersRow> {
  const text = search.trim();
  const [row] = await db.query(SYSTEM, ordersNamed, [text, UUID.test(text) ? text.toLowerCase() : null]);
  return row ?? { order_ids: [], partner_id: null, vendor_id: null, user_id: null };
}

export async function readOrderForOperator(db: Database, orderId: string) {
  const [order] = await db.query(SYSTEM, orderForOperator, [orderId]);
  if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  const [signatures, deposits] = await db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(signedPayouts, [orderId], depositsOfOrder, [orderId]),
  );
  return { order, signatures, deposits };
}

export async function readPendingProofs(
  db: Database,
  page: Page,
): Promise<{ proofs: PendingProofRow[]; total: number }> {
  const [proofs, [count]] = await db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(pendingProofs, [page.limit, page.offset], countPendingProofs, []),
  );
  return { proofs, total: Number(count?.total ?? 0) };
}

/** What a vendor got and gave, as decimal text. On-ramp it sells crypto for fiat; off-ramp it buys. */
export interface Earning {
  readonly asset: string;
  readonly received: string;
  readonly paid: string;
}

type Figures = Omit<EarningSumRow, 'orders'>;

interface Movement {
  readonly asset: string;
  readonly decimals: number;
  readonly received: bigint;
  readonly paid: bigint;
}

/** The escrow pays a buyer what is left after the platform's fee; a seller gives all of it. */
function movementsOf(row: Figures): readonly [crypto: Movement, fiat: Movement] {
  const crypto = BigInt(row.crypto_amount);
  const fiat = BigInt(row.fiat_amount);
  const isSale = row.direction === 'onramp';
  return [
    {
      asset: `${row.crypto_currency}@${row.chain}`,
      decimals: row.crypto_decimals,
      received: isSale ? 0n : crypto - BigInt(row.platform_fee),
      paid: isSale ? crypto : 0n,
    },
    {
      asset: row.fiat_currency,
      decimals: row.fiat_decimals,
      received: isSale ? fiat : 0n,
      paid: isSale ? 0n : fiat,
    },
  ];
}

const written = ({ asset, decimals, received, paid }: Movement): Earning => ({
  asset,
  received: formatFixed(received, decimals),
  paid: formatFixed(paid, decimals),
});

export function earningView(row: EarningRow) {
  const [crypto, fiat] = movementsOf(row);
  return {
    order_id: row.order_id,
    direction: row.direction,
    crypto: written(crypto),
    fiat: written(fiat),
    rate: row.rate,
    tx_hash: row.tx_hash,
    settled_at: row.settled_at.toISOString(),
  };
}

/** One line an asset. Token decimals differ between chains, and so do the assets; a currency has one number of them. */
export function totalsOf(rows: readonly Figures[]): Earning[] {
  const totals = new Map<string, Movement>();
  for (const movement of rows.flatMap(movementsOf)) {
    const before = totals.get(movement.asset);
    totals.set(movement.asset, {
      ...movement,
      received: movement.received + (before?.received ?? 0n),
      paid: movement.paid + (before?.paid ?? 0n),
    });
  }
  return [...totals.values()].sort((a, b) => (a.asset < b.asset ? -1 : 1)).map(written);
}

/** By pair, as traders count. */
export function pairLines(rows: readonly EarningSumRow[]) {
  return rows.map((row) => {
    const [crypto, fiat] = movementsOf(row);
    return {
      direction: row.direction,
      chain: row.chain,
      crypto_currency: row.crypto_currency,
      fiat_currency: row.fiat_currency,
      orders: Number(row.orders),
      crypto_amount: formatFixed(crypto.received + crypto.paid, row.crypto_decimals),
      fiat_amount: formatFixed(fiat.received + fiat.paid, row.fiat_decimals),
    };
  });
}
