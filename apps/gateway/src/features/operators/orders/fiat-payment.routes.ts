import {
  FiatPaymentDecisionInput,
  FiatPaymentParams,
  formatFixed,
  HeldPaymentListSchema,
  HeldPaymentSchema,
  OPERATOR_TAG,
  PageQuery,
  ReasonInput,
  RevealedFiatPaymentSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import { type UnitDeps, unitOfWork } from '../../../engine/unit-of-work.ts';
import { invalidRequest } from '../../../http/errors.ts';
import { route } from '../../../http/route.ts';
import type { Currencies } from '../../../ports/currencies.ts';
import type { Vaults } from '../../../vault/vault.ts';
import { accountIdOf } from '../../fiat-accounts/fiat-account.ts';
import { decidePayment, heldPayments, lockPayment, revealPayment } from '../../fiat-accounts/payments.ts';
import type { OrderAdapters } from '../../orders/lifecycle/order.adapter.ts';
import { valueOfFiat } from './moved-value.ts';

export interface FiatPaymentDeps extends UnitDeps {
  readonly orderAdapters: OrderAdapters;
  readonly vaults: Vaults;
  readonly currencies: Pick<Currencies, 'current'>;
}

const PAYMENTS = '/api/v1/operator/fiat-payments';

/** Payments into customers' accounts that a person has to decide; every decision is audited with who and why. */
export function registerFiatPaymentRoutes(app: FastifyInstance, deps: FiatPaymentDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: PAYMENTS,
    operationId: 'listHeldFiatPayments',
    tag: OPERATOR_TAG,
    summary: 'List held fiat payments, longest waiting first',
    description:
      'Payments that wait for a person, most of them because they could pay several orders. The payer is shown by reveal.',
    query: PageQuery,
    data: HeldPaymentListSchema,
    handle: async ({ query }) => {
      const { payments, total } = await heldPayments(deps.db, query);
      return { payments: payments.map(paymentView), pagination: { total, ...query } };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${PAYMENTS}/:payment_id/decision`,
    operationId: 'decideFiatPayment',
    tag: OPERATOR_TAG,
    summary: 'Match a held fiat payment to an order, or leave it on the account',
    description:
      'match pays the order and ends the hold that the payment put on it; an order held for another reason is refused until that hold is decided. Orders that nothing else keeps waiting go on. A payment that came too early to match by itself can be matched too.',
    params: FiatPaymentParams,
    body: FiatPaymentDecisionInput,
    data: HeldPaymentSchema,
    errors: ['FIAT_PAYMENT_NOT_FOUND', 'ORDER_NOT_FOUND', 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED'],
    secondApproval: {
      amountOf: async ({ params, body }, unit) => {
        // It stays where it is.
        if (body.decision === 'leave') return undefined;
        const { currency, amount, currency_decimals } = await lockPayment(unit, params.payment_id);
        return valueOfFiat(deps.currencies, currency, BigInt(amount), currency_decimals);
      },
      subjectOf: ({ params }) => `fiat-payments/${params.payment_id}`,
      describe: ({ body }) =>
        body.decision === 'match'
          ? `Match the payment to order ${body.order_id ?? ''}: it pays the order, which goes on.`
          : 'Leave the payment on the customer’s account.',
    },
    handle: async ({ params, body }, operator, unit) => {
      const { before, after } = await decidePayment(deps, unit, params.payment_id, decisionOf(body));
      recordAction(unit, operator, {
        action: `fiat_payment.${body.decision}`,
        subject: `fiat-payments/${after.payment_id}`,
        reason: body.reason,
        before: { status: before.status, candidate_order_ids: before.candidate_order_ids },
        after: { status: after.status, order_id: after.order_id },
      });
      return paymentView(after);
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'POST',
    url: `${PAYMENTS}/:payment_id/reveal`,
    operationId: 'revealFiatPayment',
    tag: OPERATOR_TAG,
    summary: 'Reveal the sender and reference of a fiat payment',
    params: FiatPaymentParams,
    body: ReasonInput,
    data: RevealedFiatPaymentSchema,
    errors: ['FIAT_PAYMENT_NOT_FOUND'],
    handle: ({ params, body }, operator) =>
      // Nothing is answered before the entry is committed.
      unitOfWork(deps, SYSTEM, async (unit) => {
        const { payment, details } = await revealPayment(deps, unit, params.payment_id);
        recordAction(unit, operator, {
          action: 'fiat_payment.reveal',
          subject: `fiat-payments/${payment.payment_id}`,
          reason: body.reason,
        });
        return { payment_id: payment.payment_id, ...details };
      }),
  });
}

function decisionOf({ decision, order_id: orderId }: { decision: 'match' | 'leave'; order_id?: string }) {
  if (decision === 'leave') return { kind: 'leave' } as const;
  if (orderId === undefined) throw invalidRequest('order_id', 'is required to match');
  return { kind: 'match', orderId } as const;
}

type HeldPayment = Static<typeof HeldPaymentSchema>;

export function paymentView(row: Awaited<ReturnType<typeof heldPayments>>['payments'][number]): HeldPayment {
  return {
    payment_id: row.payment_id,
    partner_id: row.partner_id,
    user_id: row.user_id,
    fiat_account_id: accountIdOf(row.account_number),
    amount: formatFixed(BigInt(row.amount), row.currency_decimals),
    currency: row.currency,
    status: row.status,
    order_id: row.order_id,
    candidate_order_ids: row.candidate_order_ids,
    received_at: row.received_at.toISOString(),
  };
}
