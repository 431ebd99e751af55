import { OPERATOR_TAG, ReconciliationQuery, ReconciliationSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Chains } from '../../chain/chains.ts';
import type { Database } from '../../db/database.ts';
import { route } from '../../http/route.ts';
import { checkBooks, compareEscrows } from '../orders/escrow/reconcile-escrows.ts';
import { differenceView, readReconciliation } from './reconcile.ts';

/** Whether the books agree with themselves, with the chain, and with all else that was recorded. */
export function registerReconciliationRoutes(
  app: FastifyInstance,
  deps: { readonly db: Database; readonly chains: Chains },
): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/reconciliation',
    operationId: 'reconcile',
    tag: OPERATOR_TAG,
    summary: 'Reconcile the books',
    description:
      'differences: what the worker’s reconciliation has found, of orders, entries, effects, events, deliveries and bank payments too. books: every asset must sum to zero. escrows: what the books say each holds, against the chain now, a page at a time, oldest order first. in_flight is a payment that the chain shows and the books await as final; different needs an operator. Escrows that agree are counted and not listed.',
    query: ReconciliationQuery,
    data: ReconciliationSchema,
    handle: async ({ query: { scope = 'open', limit, cursor = null } }) => {
      const [books, compared, { differences, run }] = await Promise.all([
        checkBooks(deps.db),
        compareEscrows(deps, scope, { after: cursor, limit }),
        readReconciliation(deps),
      ]);
      const of = (verdict: string) => compared.filter((one) => one.verdict === verdict);
      return {
        differences: differences.map(differenceView),
        last_run: {
          finished_at: run?.finished_at?.toISOString() ?? null,
          checked: run?.checked ?? 0,
          different: run?.different ?? 0,
          unreachable: run?.unreachable ?? 0,
        },
        books,
        escrows: {
          checked: compared.length,
          equal: of('equal').length,
          in_flight: of('in_flight'),
          different: of('different'),
          unreachable: of('unreachable'),
        },
        next_cursor: compared.length === limit ? (compared.at(-1)?.order_id ?? null) : null,
      };
    },
  });
}
