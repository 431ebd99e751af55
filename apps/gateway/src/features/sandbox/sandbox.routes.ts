import {
  OrderParams,
  OrderSchema,
  SANDBOX_KYC_TRIGGERS,
  SandboxClockInput,
  SandboxClockResetSchema,
  SandboxClockSchema,
  SandboxFaucetInput,
  SandboxFaucetSchema,
  SandboxKycStatusInput,
  SandboxKycStatusSchema,
  SandboxOrderEventInput,
  SandboxSettingsSchema,
  SandboxWidgetOrderInput,
  UserParams,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { limitPartner } from '../../http/access.ts';
import { identityOf } from '../../http/idempotency.ts';
import type { RateLimit } from '../../http/rate-limit.ts';
import { route } from '../../http/route.ts';
import type { MovableClock } from '../../lib/clock.ts';
import type { Sealer } from '../../lib/crypto.ts';
import type { Vaults } from '../../vault/vault.ts';
import type { OrderAdapters } from '../orders/lifecycle/order.adapter.ts';
import { orderView } from '../orders/lifecycle/order.view.ts';
import { PRICING_ERRORS } from '../quotes/pricing.ts';
import { changeKycStatus } from '../users/kyc-status.ts';
import { advanceBusinessClock, readBusinessClock, resetBusinessClock } from './business-clock.ts';
import { FAUCET_PAYMENTS_PER_MINUTE, type FaucetDeps, payFromFaucet } from './faucet.ts';
import { applySandboxEvent } from './order-events.ts';
import { setAutoAdvance } from './seed.ts';
import { openSandboxWidgetOrder, type SandboxWidgetOrderDeps } from './widget-orders.ts';

export interface SandboxRouteDeps extends UnitDeps, SandboxWidgetOrderDeps, FaucetDeps {
  readonly rateLimit: RateLimit;
  readonly clock: MovableClock;
  readonly orderAdapters: OrderAdapters;
  readonly sealer: Sealer;
  readonly vaults: Vaults;
}

const TAG = 'Sandbox';

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
    description: 'Defaults: a verified customer, 100 EUR, USDC, your own wallet as the customer’s.',
    body: SandboxWidgetOrderInput,
    data: OrderSchema,
    errors: [
      'USER_NOT_FOUND',
      'KYC_NOT_CLEARED',
      'RECIPIENT_NOT_CLEARED',
      'WALLET_NOT_CLEARED',
      'WALLET_NOT_ALLOWED',
      'TRANSACTOR_UNAVAILABLE',
      'PAYMENT_DETAILS_NOT_FOUND',
      'OPEN_ORDER_LIMIT',
      ...PRICING_ERRORS,
    ],
    handle: ({ body }, partner) => openSandboxWidgetOrder(deps, partner, body),
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
    handle: async ({ params, body }, partner, outside) =>
      orderView(deps, await applySandboxEvent(deps, partner.partnerId, params.order_id, body, outside)),
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

  registerClock(app, deps);
  app.register(async (scope) => registerFaucet(scope, deps));
}

const CLOCK = '/api/v1/sandbox/clock';

function registerClock(app: FastifyInstance, deps: SandboxRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: CLOCK,
    operationId: 'sandboxClock',
    tag: TAG,
    summary: 'Read the business clock',
    data: SandboxClockSchema,
    handle: () => readBusinessClock(deps),
  });

  route(app, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: `${CLOCK}/advance`,
    operationId: 'sandboxAdvanceClock',
    tag: TAG,
    summary: 'Advance the business clock',
    description: 'Quote expiry, time-outs and webhook retries follow it, in every process.',
    body: SandboxClockInput,
    data: SandboxClockSchema,
    handle: ({ body }, _partner, outside) => advanceBusinessClock(deps, body.seconds, outside),
  });

  route(app, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: `${CLOCK}/reset`,
    operationId: 'sandboxResetClock',
    tag: TAG,
    summary: 'Put the business clock back to the machine’s',
    description:
      'Of the whole sandbox, not of one partner. What waits for a time keeps the time it has left. What has happened stays, with its times: cannot_undo says what of yours lies ahead of the clock now.',
    data: SandboxClockResetSchema,
    handle: (_input, partner) => resetBusinessClock(deps, partner.partnerId),
  });
}

function registerFaucet(scope: FastifyInstance, deps: SandboxRouteDeps): void {
  scope.addHook('preHandler', limitPartner(deps.rateLimit, 'faucet', FAUCET_PAYMENTS_PER_MINUTE));
  route(scope, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: '/api/v1/sandbox/faucet',
    operationId: 'sandboxFaucet',
    tag: TAG,
    summary: 'Get tokens or gas for any wallet',
    description: `Really moves them on the local chain and answers when they are there. At most ${FAUCET_PAYMENTS_PER_MINUTE} payments a minute.`,
    body: SandboxFaucetInput,
    data: SandboxFaucetSchema,
    errors: ['OPERATION_NOT_ALLOWED', 'TRANSACTOR_UNAVAILABLE'],
    handle: ({ body, request }, partner) =>
      payFromFaucet(deps, partner.partnerId, body, identityOf(request)?.idempotencyKey),
  });
}
