import {
  formatFixed,
  LISTED_OPEN_ACTIONS,
  orderStatusesWithOutcome,
  type StatisticsQuery,
  type StatisticsSchema,
  type TradeOutcome,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, partnerScope } from '../../db/database.ts';
import { type ExportPeriod, readPeriod } from '../exports/export-period.ts';
import { listOrdersWaitingForPartner } from '../orders/lifecycle/list-orders.ts';
import { reasonsView } from '../orders/lifecycle/order.ts';
import { type DeliveryFigures, deliveryFigures, type FigureRow, orderFigures } from './statistics.store.ts';

type Statistics = Static<typeof StatisticsSchema>;
type Figures = Pick<Statistics, 'orders' | 'settled' | 'volumes'>;
type Interval = Statistics['interval'];

const MOST_COUNTED = 1000;
const DAY_MS = 86_400_000;
const RATE_DECIMALS = 4;

/** How a partner's business goes in a period, and what waits for it now. */
export async function readStatistics(
  db: Database,
  partnerId: string,
  query: Static<typeof StatisticsQuery>,
  now: Date,
): Promise<Statistics> {
  const period = readPeriod(query, now);
  const { from, to, firstDay, lastDay, zone } = period;
  const starts = intervalStarts(period, query.interval);
  const scope = partnerScope(partnerId);
  const bounds = starts.map((day) => zone.startOfDay(day));
  const [figures, [deliveries], waiting] = await Promise.all([
    db.query(scope, orderFigures, [partnerId, from, to, bounds]),
    db.query(scope, deliveryFigures, [partnerId, from, to, MOST_COUNTED]),
    listOrdersWaitingForPartner(db, partnerId, MOST_COUNTED),
  ]);
  const byInterval = figures.filter(({ bucket }) => bucket !== null);
  return {
    from: firstDay,
    to: lastDay,
    time_zone: zone.name,
    interval: query.interval,
    ...figuresOf(byInterval),
    ...outcomesOf(figures),
    time_to_complete: {
      median_seconds: figures[0]?.median_seconds ?? null,
      p90_seconds: figures[0]?.p90_seconds ?? null,
    },
    series: starts.map((start, index) => ({
      start,
      ...figuresOf(byInterval.filter(({ bucket }) => bucket === index + 1)),
    })),
    open_actions: {
      total: waiting.length,
      orders: waiting.slice(0, LISTED_OPEN_ACTIONS).map(({ order, next }) => ({
        order_id: order.order_id,
        reference_id: order.reference_id,
        status: order.status,
        next_action: next,
        expires_at: reasonsView(order).expires_at,
        updated_at: order.updated_at.toISOString(),
      })),
    },
    webhooks: webhooksOf(deliveries),
  };
}

/** First days of the intervals that the period touches. */
export function intervalStarts(
  { firstDay, lastDay }: Pick<ExportPeriod, 'firstDay' | 'lastDay'>,
  interval: Interval,
): string[] {
  const starts: string[] = [];
  for (let day = startOf(firstDay, interval); day <= lastDay; day = nextStart(day, interval))
    starts.push(day);
  return starts;
}

function startOf(day: string, interval: Interval): string {
  if (interval === 'month') return `${day.slice(0, 7)}-01`;
  if (interval === 'day') return day;
  const sinceMonday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
  return daysLater(day, -sinceMonday);
}

function nextStart(day: string, interval: Interval): string {
  if (interval === 'day') return daysLater(day, 1);
  // No month is longer, and none is shorter than four weeks.
  return interval === 'week' ? daysLater(day, 7) : startOf(daysLater(day, 31), 'month');
}

function daysLater(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

function figuresOf(rows: readonly FigureRow[]): Figures {
  const count = (of: (row: FigureRow) => string) => rows.reduce((sum, row) => sum + Number(of(row)), 0);
  return {
    orders: count(({ orders }) => orders),
    settled: count(({ settled }) => settled),
    volumes: volumesOf(rows),
  };
}

interface Volume {
  readonly currency: string;
  readonly kind: 'fiat' | 'crypto';
  readonly decimals: number;
  readonly orders: number;
  readonly units: bigint;
}

/** A token may have more decimals on one chain than on another: sums are kept in the finer unit. */
function volumesOf(rows: readonly FigureRow[]): Figures['volumes'] {
  const volumes = new Map<string, Volume>();
  for (const row of rows) {
    if (row.settled === '0') continue;
    const orders = Number(row.settled);
    const moved: readonly Volume[] = [
      {
        kind: 'fiat',
        currency: row.fiat_currency,
        decimals: row.fiat_decimals,
        orders,
        units: BigInt(row.fiat_amount),
      },
      {
        kind: 'crypto',
        currency: row.crypto_currency,
        decimals: row.crypto_decimals,
        orders,
        units: BigInt(row.crypto_amount),
      },
    ];
    for (const volume of moved) {
      const key = `${volume.kind} ${volume.currency}`;
      volumes.set(key, added(volumes.get(key), volume));
    }
  }
  return [...volumes.entries()]
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([, { currency, kind, decimals, orders, units }]) => ({
      currency,
      kind,
      orders,
      amount: formatFixed(units, decimals),
    }));
}

function added(before: Volume | undefined, volume: Volume): Volume {
  if (before === undefined) return volume;
  const decimals = Math.max(before.decimals, volume.decimals);
  const scaled = (one: Volume) => one.units * 10n ** BigInt(decimals - one.decimals);
  return {
    ...volume,
    decimals,
    orders: before.orders + volume.orders,
    units: scaled(before) + scaled(volume),
  };
}

function outcomesOf(
  rows: readonly FigureRow[],
): Pick<Statistics, 'stopped' | 'disputed' | 'open' | 'success_rate' | 'statuses'> {
  const statuses = rows
    .flatMap(({ status, orders }) => (status === null ? [] : [{ status, orders: Number(orders) }]))
    .sort((a, b) => b.orders - a.orders || (a.status < b.status ? -1 : 1));
  const count = (...outcomes: readonly TradeOutcome[]) => {
    const these = orderStatusesWithOutcome(...outcomes);
    return statuses.reduce((sum, { status, orders }) => sum + (these.includes(status) ? orders : 0), 0);
  };
  const known = count('settled', 'stopped', 'disputed');
  const all = statuses.reduce((sum, { orders }) => sum + orders, 0);
  const share =
    known === 0 ? null : (BigInt(count('settled')) * 10n ** BigInt(RATE_DECIMALS)) / BigInt(known);
  return {
    stopped: count('stopped'),
    disputed: count('disputed'),
    open: all - known,
    success_rate: share === null ? null : formatFixed(share, RATE_DECIMALS),
    statuses,
  };
}

function webhooksOf(row: DeliveryFigures | undefined): Statistics['webhooks'] {
  return {
    deliveries: Number(row?.deliveries ?? 0),
    delivered: Number(row?.delivered ?? 0),
    failed: Number(row?.failed ?? 0),
    waiting: Number(row?.waiting ?? 0),
    oldest_waiting_at: row?.oldest_waiting_at?.toISOString() ?? null,
  };
}
