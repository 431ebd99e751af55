import {
  formatFixed,
  OPERATOR_TAG,
  OperatorOrderListSchema,
  OperatorOrderQuery,
  type OperatorOrderSchema,
  OrderAuditTrailSchema,
  OrderParams,
  orderActionsOf,
  pageOf,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { SYSTEM } from '../../../db/database.ts';
import { type AuditRow, auditOf, KYC_WAIVED, listAudit } from '../../../engine/audit.ts';
import { intentsOfOrder } from '../../../engine/stuck-intents.store.ts';
import type { UnitDeps } from '../../../engine/unit-of-work.ts';
import { route } from '../../../http/route.ts';
import { readDeclines, readVendorAnswers, statementRecord } from '../../orders/disputes/vendor-answers.ts';
import { type FundsDeps, readOrderFunds } from '../../orders/escrow/order-funds.ts';
import {
  type BackofficeOrderRow,
  readOrderForOperator,
  readOrdersForOperator,
} from '../../orders/lifecycle/list-orders.ts';
import { factsOf } from '../../orders/lifecycle/order.adapter.ts';
import { reasonsView, shownDeadline, type TimelineEntry } from '../../orders/lifecycle/order.ts';
import { depositView } from '../../vendors/vendor-order.view.ts';
import { effectView, lateBefore } from '../system/stuck-effects.ts';
import {
  authorizationsOfOrder,
  caseOfOrder,
  eventsOfOrder,
  transactionsOfOrder,
} from './order-audit.store.ts';

export function operatorOrderView(order: BackofficeOrderRow): Static<typeof OperatorOrderSchema> {
  const crypto = (amount: string) => formatFixed(BigInt(amount), order.crypto_decimals);
  return {
    order_id: order.order_id,
    partner_id: order.partner_id,
    user_id: order.user_id,
    quote_id: order.quote_id,
    vendor_id: order.vendor_id,
    order_type: order.order_type,
    direction: order.direction,
    origin: order.facts.origin,
    reference_id: order.reference_id,
    status: order.status,
    held_for_review: order.facts.held,
    kyc_status: order.kyc_status,
    crypto_currency: order.crypto_currency,
    crypto_amount: crypto(order.crypto_amount),
    fiat_currency: order.fiat_currency,
    fiat_amount: formatFixed(BigInt(order.fiat_amount), order.fiat_decimals),
    rate: order.rate,
    platform_fee: crypto(order.platform_fee),
    partner_fee: crypto(order.partner_fee),
    payment_method_slug: order.payment_method_slug,
    payment_network_slug: order.payment_network_slug,
    chain: order.chain,
    escrow_address: order.escrow?.address ?? null,
    escrow_state: order.facts.escrow,
    tx_hash: order.tx_hash,
    send_out_tx_hash: order.send_out_tx_hash,
    deadline_at: shownDeadline(order),
    ...reasonsView(order),
    created_at: order.created_at.toISOString(),
    updated_at: order.updated_at.toISOString(),
  };
}

type AuditTrail = Static<typeof OrderAuditTrailSchema>;

export interface AuditTrailDeps extends UnitDeps, FundsDeps {}

const AUDIT_ENTRIES = 100;

/** All that every part of the program has written about one order, and what the chain says of its escrow now. */
export async function readOrderAuditTrail(deps: AuditTrailDeps, givenId: string): Promise<AuditTrail> {
  const { db, clock } = deps;
  const orderId = givenId.toLowerCase();
  const { order, signatures, deposits } = await readOrderForOperator(db, orderId);
  const [funds, effects, transactions, authorizations, events, answers, declines, [compliance], audit] =
    await Promise.all([
      readOrderFunds(deps, SYSTEM, order),
      db.query(SYSTEM, intentsOfOrder, [lateBefore(clock.date()), orderId]),
      db.query(SYSTEM, transactionsOfOrder, [orderId]),
      db.query(SYSTEM, authorizationsOfOrder, [orderId]),
      db.query(SYSTEM, eventsOfOrder, [orderId]),
      readVendorAnswers(db, SYSTEM, orderId),
      readDeclines(db, SYSTEM, orderId),
      db.query(SYSTEM, caseOfOrder, [orderId]),
      db.query(SYSTEM, listAudit, [...auditOf(`orders/${orderId}`), AUDIT_ENTRIES, 0]),
    ]);
  return {
    order: operatorOrderView(order),
    timeline: timelineWithDecisions(order.timeline, audit),
    facts: { ...order.facts },
    allowed_actions: orderActionsOf('operator', {
      direction: order.direction,
      status: order.status,
      facts: factsOf(order),
    }),
    funds,
    signatures: signatures as AuditTrail['signatures'],
    deposits: deposits.map(depositView),
    authorizations: authorizations.map(({ amount, issued_at, expires_at, ...row }) => ({
      ...row,
      amount_atomic: amount,
      issued_at: issued_at.toISOString(),
      expires_at: expires_at.toISOString(),
    })) as AuditTrail['authorizations'],
    effects: effects.map(effectView),
    transactions: transactions.map(({ created_at, settled_at, ...row }) => ({
      ...row,
      created_at: created_at.toISOString(),
      settled_at: settled_at?.toISOString() ?? null,
    })) as AuditTrail['transactions'],
    webhooks: events.map(({ created_at, ...row }) => ({
      ...row,
      created_at: created_at.toISOString(),
    })) as AuditTrail['webhooks'],
    proofs: answers.proofs,
    dispute_statements: answers.statements.map(statementRecord),
    declines,
    compliance_case_id: compliance?.case_id ?? null,
    audit: audit.map(({ audit_id, subject, at, ...entry }) => ({ ...entry, at: at.toISOString() })),
  };
}

/** A partner's timeline has statuses only; an operator who checks a payout must see who waived KYC. */
function timelineWithDecisions(
  timeline: readonly TimelineEntry[],
  audit: readonly AuditRow[],
): AuditTrail['timeline'] {
  const waivers = audit
    .filter(({ action }) => action === KYC_WAIVED)
    .map(({ before, at }) => ({
      status: before?.status as TimelineEntry['status'],
      at: at.toISOString(),
      decision: 'kyc_waived' as const,
    }));
  const statuses = timeline.map(({ status, at }) => ({ status, at }));
  // What follows from a decision has its instant, so the decision comes first.
  return [...waivers, ...statuses].sort((left, right) => Date.parse(left.at) - Date.parse(right.at));
}

/** Orders of all partners: finding one, and reading all there is about it. */
export function registerOrderReadRoutes(app: FastifyInstance, deps: AuditTrailDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/orders',
    operationId: 'searchOrders',
    tag: OPERATOR_TAG,
    summary: 'Search orders of all partners, newest first',
    query: OperatorOrderQuery,
    data: OperatorOrderListSchema,
    handle: async ({ query }) => {
      const rows = await readOrdersForOperator(deps.db, {
        search: query.search ?? null,
        statuses: query.status ?? null,
        partnerId: query.partner_id ?? null,
        vendorId: query.vendor_id ?? null,
        userId: query.user_uuid ?? null,
        referenceId: query.reference_id ?? null,
        direction: query.direction ?? null,
        held: query.held ?? null,
        stuck: query.stuck ?? null,
        createdFrom: query.created_from === undefined ? null : new Date(query.created_from),
        createdTo: query.created_to === undefined ? null : new Date(query.created_to),
        lateBefore: lateBefore(deps.clock.date()),
        before: query.cursor ?? null,
        limit: query.limit + 1,
      });
      const { page, pagination } = pageOf(rows, query.limit, (row) => row.order_id);
      return { orders: page.map(operatorOrderView), pagination };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/orders/:order_id',
    operationId: 'getOrderAuditTrail',
    tag: OPERATOR_TAG,
    summary: 'Get the audit trail of an order',
    description:
      'Timeline, where the money is, signatures, payments found on chain, effects with their transactions, webhooks sent, proofs, what vendors said in a dispute (the words by reveal), and what operators did. Persons are named by their ids only.',
    params: OrderParams,
    data: OrderAuditTrailSchema,
    errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID'],
    handle: ({ params }) => readOrderAuditTrail(deps, params.order_id),
  });
}
