import {
  OrderParams,
  OrderSchema,
  SANDBOX_KYC_TRIGGERS,
  SandboxClockInput,
  SandboxClockSchema,
  SandboxKycStatusInput,
  SandboxKycStatusSchema,
  SandboxOrderEventInput,
  SandboxSettingsSchema,
  SandboxWidgetOrderInput,
  UserParams,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
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

const advanceClock = statement<[ms: number], { offset_ms: string }>(
  'sandbox.advance_clock',
  'UPDATE business_clock SET offset_ms = offset_ms + $1 RETURNING offset_ms::text',
);

function registerWidgetOrders(app: FastifyInstance, deps: SandboxRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: '/api/v1/sandbox/widget-orders',
    operationId: 'sandboxWidgetOrder',
    tag: TAG,
    summary: 'Create an order as the embedded widget does',
    description: 'Defaults: a verified customer, 100 EUR, USDC.',
    body: SandboxWidgetOrderInput,
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
    summary: 'Switch automatic steps of simulated actors on or off',
    body: SandboxSettingsSchema,
    data: SandboxSettingsSchema,
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
    summary: 'Trigger an event of an order',
    description: 'Events that move crypto really move it on the local chain; the answer waits for that.',
    params: OrderParams,
    body: SandboxOrderEventInput,
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
    summary: 'Set a customer’s KYC status',
    params: UserParams,
    body: SandboxKycStatusInput,
    data: SandboxKycStatusSchema,
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
    summary: 'Advance the business clock',
    description: 'Quote expiry, time-outs and webhook retries follow it, in every process.',
    body: SandboxClockInput,
    data: SandboxClockSchema,
    handle: async ({ body }) => {
      const [moved] = await deps.db.query(SYSTEM, advanceClock, [body.seconds * 1_000]);
      const offsetMs = Number(moved?.offset_ms ?? 0);
      deps.clock.moveTo(offsetMs);
      return { now: deps.clock.date().toISOString(), offset_seconds: Math.floor(offsetMs / 1_000) };
    },
  });
}
