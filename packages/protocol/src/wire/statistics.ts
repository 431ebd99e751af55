import { Type } from 'typebox';
import { NEXT_ACTIONS } from '../machines/index.ts';
import { DecimalString, literals, Nullable, Timestamp, Uuid } from './common.ts';
import { ExportQuery } from './export.ts';
import { OrderStatusSchema } from './order.ts';

/** How a partner's business goes: counted over the orders that were created in a period. */

export const STATISTICS_INTERVALS = ['day', 'week', 'month'] as const;
/** Of the orders that wait for the partner, so many are named. */
export const LISTED_OPEN_ACTIONS = 20;

export const StatisticsQuery = Type.Object({
  ...ExportQuery.properties,
  interval: Type.Unsafe<(typeof STATISTICS_INTERVALS)[number]>({
    ...literals(STATISTICS_INTERVALS),
    default: 'day',
    description: 'How orders are put together in `series`. A week begins on Monday',
    examples: ['day'],
  }),
});

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const VolumeSchema = Type.Object({
  currency: Type.String({ examples: ['EUR'] }),
  kind: literals(['fiat', 'crypto']),
  orders: Count('Settled orders in this currency'),
  amount: Type.Unsafe<string>({ ...DecimalString, description: 'Their sum, exact' }),
});

const Figures = {
  orders: Count('Orders created'),
  settled: Count('Of these, orders that have settled'),
  volumes: Type.Array(VolumeSchema, {
    description: 'What settled orders moved: each counts in its fiat and in its crypto currency',
  }),
};

const Seconds = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });

export const StatisticsSchema = Type.Object({
  from: Type.String({ description: 'First day', examples: ['2026-11-01'] }),
  to: Type.String({ description: 'Last day, which counts too', examples: ['2026-11-30'] }),
  time_zone: Type.String({ examples: ['UTC'] }),
  interval: literals(STATISTICS_INTERVALS),
  ...Figures,
  stopped: Count('Orders that were cancelled or failed'),
  disputed: Count('Orders in dispute'),
  open: Count('Orders that are still under way'),
  success_rate: Type.Union([DecimalString, Type.Null()], {
    description:
      'Settled orders as a share of those that have ended or are in dispute, from 0 to 1, rounded down to four decimals; null where there are none',
    examples: ['0.9750'],
  }),
  time_to_complete: Type.Object({
    median_seconds: Seconds('Half of the settled orders took at most so long; null where there are none'),
    p90_seconds: Seconds('Nine of ten settled orders took at most so long'),
  }),
  statuses: Type.Array(Type.Object({ status: OrderStatusSchema, orders: Count('Orders in it now') })),
  series: Type.Array(
    Type.Object({
      start: Type.String({
        description: 'First day of the interval, which may lie before `from`',
        examples: ['2026-11-16'],
      }),
      ...Figures,
    }),
    { description: 'Every interval of the period, oldest first' },
  ),
  open_actions: Type.Object(
    {
      total: Count('Orders that wait for you now, whenever they were created; counted up to 1000'),
      orders: Type.Array(
        Type.Object({
          order_id: Uuid,
          reference_id: Nullable(Type.String()),
          status: OrderStatusSchema,
          next_action: literals(NEXT_ACTIONS),
          expires_at: Nullable(Timestamp),
          updated_at: Timestamp,
        }),
        { description: `The ${LISTED_OPEN_ACTIONS} that were created last` },
      ),
    },
    { description: 'Orders whose `next_action` is yours' },
  ),
  webhooks: Type.Object({
    deliveries: Count('Deliveries created in the period, to all endpoints'),
    delivered: Count('Of these, accepted by your endpoint'),
    failed: Count('Of these, given up after the last attempt'),
    waiting: Count('Deliveries that wait now, whenever they were created; counted up to 1000'),
    oldest_waiting_at: Type.Union([Timestamp, Type.Null()], {
      description: 'When the oldest of them was created',
    }),
  }),
});
