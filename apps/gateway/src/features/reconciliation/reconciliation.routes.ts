import {
  CausewayError,
  DifferenceParams,
  EscrowSearchSchema,
  OPERATOR_TAG,
  ReasonInput,
  ReconciliationQuery,
  ReconciliationSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Chains } from '../../chain/chains.ts';
import { recordAction } from '../../engine/audit.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import { checkBooks, compareEscrows, searchEscrowAgain } from '../orders/escrow/reconcile-escrows.ts';
import { findDifference } from './difference.store.ts';
import { differenceView, readReconciliation } from './reconcile.ts';

type RouteDeps = UnitDeps & { readonly chains: Chains };

/** Whether the books agree with themselves, with the chain, and with all else that was recorded. */
export function registerReconciliationRoutes(app: FastifyInstance, deps: RouteDeps): void {
  registerReconciliation(app, deps);
  registerEscrowSearch(app, deps);
}

function registerReconciliation(app: FastifyInstance, deps: RouteDeps): void {
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

function registerEscrowSearch(app: FastifyInstance, deps: RouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/operator/reconciliation/differences/:difference_id/search',
    operationId: 'searchEscrowAgain',
    tag: OPERATOR_TAG,
    summary: 'Search the chain again for an escrow that differs',
    description:
      'For escrow_balance. All final blocks since the order was opened are read again for this escrow, and it is watched again until the order is over; what was read before is not booked twice. The worker does so by itself once for each balance.',
    params: DifferenceParams,
    body: ReasonInput,
    data: EscrowSearchSchema,
    errors: ['QUEUE_CASE_NOT_FOUND', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, operator, unit) => {
      const [known] = await unit.tx.query(findDifference, [params.difference_id]);
      if (known === undefined) throw new CausewayError('QUEUE_CASE_NOT_FOUND');
      const { difference_id, order_id: orderId, escrow_address: escrowAddress, found } = known;
      const since = await searchEscrowAgain(unit, { orderId, escrowAddress, found }, { anew: true });
      if (since === null || escrowAddress === null) {
        throw new CausewayError('OPERATION_NOT_ALLOWED', {
          message: 'It is about no escrow that is watched.',
        });
      }
      const searched_since = since.toISOString();
      recordAction(unit, operator, {
        action: 'escrow.search_again',
        subject: `orders/${orderId}`,
        reason: body.reason,
        after: { escrow_address: escrowAddress, found, searched_since },
      });
      return { difference_id, escrow_address: escrowAddress, searched_since };
    },
  });
}
