import { MAX_EXPORT_DAYS, StatisticsQuery, StatisticsSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../db/database.ts';
import { route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import { readStatistics } from './statistics.ts';

export interface StatisticsRouteDeps {
  readonly db: Database;
  readonly clock: Clock;
}

export function registerStatisticsRoutes(app: FastifyInstance, { db, clock }: StatisticsRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/statistics',
    operationId: 'getStatistics',
    tag: 'Orders',
    summary: 'Get figures of a period: orders, volume, success, time to complete, webhooks',
    description: `Counts the orders created in the period, at most ${MAX_EXPORT_DAYS} days, as they are now. Volumes are exact sums of settled orders, a currency each; nothing is converted.`,
    query: StatisticsQuery,
    data: StatisticsSchema,
    handle: ({ query }, { partnerId }) => readStatistics(db, partnerId, query, clock.date()),
  });
}
