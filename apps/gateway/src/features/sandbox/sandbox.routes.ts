import {
  KYC_STATUSES,
  KycStatusSchema,
  literals,
  NumericId,
  OrderSchema,
  SANDBOX_KYC_TRIGGERS,
  SANDBOX_ORDER_EVENTS,
  Timestamp,
  Uuid,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import type { MovableClock } from '../../lib/clock.ts';
import type { Sealer } from '../../lib/crypto.ts';
import type { Vaults } from '../../vault/vault.ts';
import type { OrderAdapters } from '../orders/lifecycle/order.adapter.ts';
import { orderView } from '../orders/lifecycle/order.view.ts';
import { PRICING_ERRORS } from '../quotes/pricing.ts';
import { changeKycStatus } from '../users/kyc-status.ts';
import { applySandboxEvent } from './order-events.ts';
import { setAutoAdvance } from './seed.ts';
import { openWidgetOrder, type WidgetOrderDeps } from './widget-orders.ts';

export interface SandboxRouteDeps extends UnitDeps, WidgetOrderDeps {
  readonly clock: MovableClock;
  readonly orderAdapters: OrderAdapters;
  readonly sealer: Sealer;
  readonly vaults: Vaults;
}

const TAG = 'Sandbox';
const MAX_ADVANCE_SECONDS = 366 * 24 * 60 * 60;

const advanceClock = statement<[ms: number], { offset_ms: string }>(
  'sandbox.advance_clock',
  'UPDATE business_clock SET offset_ms = offset_ms + $1 RETURNING offset_ms::text',
);

const Amount = Type.Optional(Type.String({ maxLength: 100 }));

function registerWidgetOrders(app: FastifyInstance, deps: SandboxRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: '/api/v1/sandbox/widget-orders',
    operationId: 'sandboxWidgetOrder',
    tag: TAG,
    summary: 'Open an order as the embedded widget would',
    description: 'Whatever is left out is made up: a verified customer, 100 EUR, USDC.',
    body: Type.Object({
      order_type: literals(['onramp', 'offramp']),
      user_uuid: Type.Optional(Uuid),
      crypto_currency: Amount,
      fiat_currency: Amount,
      fiat_amount: Amount,
      crypto_amount: Amount,
      payment_details_id: Type.Optional(NumericId),
      reference_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    }),
    data: OrderSchema,
    errors: [
      'USER_NOT_FOUND',
      'KYC_NOT_CLEARED',
      'RECIPIENT_NOT_CLEARED',
      'WALLET_NOT_CLEARED',
      'PAYMENT_DETAILS_NOT_FOUND',
      'OPEN_ORDER_LIMIT',
      ...PRICING_ERRORS,
    ],
    handle: ({ body }, partner) => openWidgetOrder(deps, partner, body),
  });
}

/** Registered by sandbox deployments only; elsewhere these paths do not exist. */
export function registerSandboxRoutes(app: FastifyInstance, deps: SandboxRouteDeps): void {
  registerWidgetOrders(app, deps);
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'PUT',
    url: '/api/v1/sandbox/settings',
    operationId: 'setSandboxSettings',
    tag: TAG,
    summary: 'Let simulated actors act on their own, or not',
    body: Type.Object({ auto_advance: Type.Boolean() }),
    data: Type.Object({ auto_advance: Type.Boolean() }),
    handle: ({ body }, partner, unit) => {
      unit.tx.defer(setAutoAdvance, [partner.partnerId, body.auto_advance]);
      return { auto_advance: body.auto_advance };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: '/api/v1/sandbox/orders/:order_id/events',
    operationId: 'sandboxOrderEvent',
    tag: TAG,
    summary: 'Make something happen to an order',
    description: 'Events that move crypto really move it on the local chain; the answer waits for that.',
    params: Type.Object({ order_id: Uuid }),
    body: Type.Object({
      event: literals(SANDBOX_ORDER_EVENTS),
      cost_multiplier: Type.Optional(
        Type.Union([Type.String({ maxLength: 40 }), Type.Number({ minimum: 0, maximum: 999_999_999 })], {
          description: 'Of reprice: what the payout costs now, by what was expected',
          examples: ['1.25'],
        }),
      ),
    }),
    data: OrderSchema,
    errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID', 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, partner) =>
      orderView(deps, await applySandboxEvent(deps, partner.partnerId, params.order_id, body)),
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/sandbox/users/:user_uuid/kyc-status',
    operationId: 'sandboxKycStatus',
    tag: TAG,
    summary: 'Put a customer in a KYC status',
    params: Type.Object({ user_uuid: Uuid }),
    body: Type.Object({
      status: literals(KYC_STATUSES),
      rejection_reasons: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 20 })),
    }),
    data: Type.Object({ status: KycStatusSchema, updated_at: Timestamp }),
    errors: ['USER_NOT_FOUND'],
    handle: async ({ params, body }, _partner, unit) => {
      const user = await changeKycStatus(
        unit,
        params.user_uuid,
        SANDBOX_KYC_TRIGGERS[body.status],
        'simulator',
        body.rejection_reasons ?? [],
      );
      return { status: user.kyc_status, updated_at: user.kyc_updated_at.toISOString() };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: '/api/v1/sandbox/clock/advance',
    operationId: 'sandboxAdvanceClock',
    tag: TAG,
    summary: 'Move the business clock forward',
    description: 'Quote expiry, time-outs and webhook retries follow it, in every process.',
    body: Type.Object({ seconds: Type.Integer({ minimum: 1, maximum: MAX_ADVANCE_SECONDS }) }),
    data: Type.Object({ now: Timestamp, offset_seconds: Type.Integer() }),
    handle: async ({ body }) => {
      const [moved] = await deps.db.query(SYSTEM, advanceClock, [body.seconds * 1_000]);
      const offsetMs = Number(moved?.offset_ms ?? 0);
      deps.clock.moveTo(offsetMs);
      return { now: deps.clock.date().toISOString(), offset_seconds: Math.floor(offsetMs / 1_000) };
    },
  });
}
