import {
  CancelOrderInput,
  CausewayError,
  type ErrorCode,
  OrderParams,
  PayerDetailsInput,
  WIDGET_TAG,
  WidgetEstimateSchema,
  WidgetFundingSchema,
  WidgetOrderInput,
  WidgetOrderListSchema,
  WidgetOrderSchema,
  WidgetPricingInput,
  WidgetQuoteInput,
  WidgetQuoteSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { reading } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { SessionPrincipal } from '../../http/principals.ts';
import { route } from '../../http/route.ts';
import type { RouteInput } from '../../http/route-declaration.ts';
import type { MailPort } from '../../ports/mail.ts';
import { estimate } from '../estimates/estimate.ts';
import { actOnOrder, callerOf, readOrder, requireOrder } from '../orders/lifecycle/act-on-order.ts';
import type { OrderRow } from '../orders/lifecycle/order.ts';
import { type PayerDeps, screenPayer, submitPayerDetails } from '../orders/lifecycle/payment-request.ts';
import { keepStopReason } from '../orders/privacy/order-privacy.ts';
import { issueOfframpQuote, issueOnrampQuote, type OfframpQuoteDeps } from '../quotes/issue-quote.ts';
import { PRICING_ERRORS } from '../quotes/pricing.ts';
import { queueOrderMail } from './mail/mail.effect.ts';
import { customerOrders, orderSummary } from './session.view.ts';
import { requireFixedWallet, withinSession } from './session-terms.ts';
import { customerOf, readSession, readSessionBy } from './sessions.ts';
import { readFunding } from './widget-funding.ts';
import { openWidgetOrder, type WidgetClaim, type WidgetOrderDeps, withWidgetClaim } from './widget-order.ts';
import { customerFigures, type WidgetOrderViewDeps, widgetOrderView } from './widget-order.view.ts';

export interface WidgetOrderRouteDeps
  extends WidgetOrderDeps,
    OfframpQuoteDeps,
    WidgetOrderViewDeps,
    PayerDeps {
  readonly clock: WidgetOrderDeps['clock'];
  readonly mail: MailPort | undefined;
  readonly publicBaseUrl: string;
}

export const SESSION = '/api/v1/widget/session';
export const ORDER = `${SESSION}/orders/:order_id`;

/** Prices, orders and what a customer says of a payment; what its wallet signs is in widget-signing.routes.ts. */
export function registerWidgetOrderRoutes(app: FastifyInstance, deps: WidgetOrderRouteDeps): void {
  registerPricing(app, deps);
  registerOpening(app, deps);
  registerReads(app, deps);
  registerPaymentActions(app, deps);
}

function registerPricing(app: FastifyInstance, deps: WidgetOrderRouteDeps): void {
  route(app, {
    access: 'session',
    transaction: 'none',
    method: 'POST',
    url: `${SESSION}/estimates`,
    operationId: 'estimateInWidget',
    tag: WIDGET_TAG,
    summary: 'Estimate what the customer pays and gets',
    description: 'Indicative: nothing is reserved or stored. Fees are those of the session.',
    body: WidgetPricingInput,
    data: WidgetEstimateSchema,
    errors: PRICING_ERRORS,
    handle: async ({ body }, session) => {
      const row = await readSession(deps.db, session);
      const { side, ...request } = withinSession(row, body);
      const { settlementChain, platformFeePct } = session.partner;
      const terms = { tokens: deps.tokensOf(settlementChain), platformFeePct };
      const priced = estimate(deps, side, { ...request, ...feeOf(row) }, terms);
      return { ...priced, ...customerFigures(side, priced, request) };
    },
  });

  route(app, {
    access: 'session',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${SESSION}/quotes`,
    operationId: 'quoteInWidget',
    tag: WIDGET_TAG,
    summary: 'Get a firm quote for the session’s customer',
    description:
      'Off-ramp it names the customer’s own payment details. Only this session can make an order of it.',
    body: WidgetQuoteInput,
    data: WidgetQuoteSchema,
    errors: [
      'EMAIL_NOT_CONFIRMED',
      'USER_NOT_FOUND',
      'KYC_NOT_CLEARED',
      'PAYMENT_DETAILS_NOT_FOUND',
      'RECIPIENT_NOT_CLEARED',
      'RELATIONSHIP_NOT_ALLOWED',
      ...PRICING_ERRORS,
    ],
    handle: ({ body }, session, unit) => quoteInSession(deps, unit, session, body),
  });
}

/** The partner's server may have set its own fee for the session. */
function feeOf({ partner_fee_pct: fee }: { readonly partner_fee_pct: string | null }) {
  return fee === null ? {} : { partner_fee_pct: fee };
}

async function quoteInSession(
  deps: WidgetOrderRouteDeps,
  unit: UnitOfWork,
  session: SessionPrincipal,
  input: Static<typeof WidgetQuoteInput>,
): Promise<Static<typeof WidgetQuoteSchema>> {
  const userId = customerOf(session);
  const row = await readSessionBy(unit, session);
  const { side, payment_details_id: detailsId, ...asked } = withinSession(row, input);
  const request = { ...asked, ...feeOf(row), user_uuid: userId };
  const run = { ids: unit.ids, at: unit.at, query: unit.tx.query };
  const own = detailsId === undefined ? {} : { payment_details_id: detailsId };
  // Any vendor can serve: where none tells that the fiat has arrived, the customer does.
  const quote =
    side === 'onramp'
      ? await issueOnrampQuote(deps, run, session, request)
      : await issueOfframpQuote(deps, run, session, { ...request, ...own });
  return { ...quote, ...customerFigures(side, quote, asked) };
}

/** What an order takes before its unit begins. */
function claimingInSession(deps: WidgetOrderRouteDeps) {
  return async <T>(
    { body }: { readonly body: Static<typeof WidgetOrderInput> },
    session: SessionPrincipal,
    work: (claimed: WidgetClaim) => Promise<T>,
  ): Promise<T> => {
    const { partnerId, sessionId } = session;
    const userId = customerOf(session);
    const { quote_id: quoteId, wallet_address: walletAddress } = body;
    requireFixedWallet(await readSession(deps.db, session), walletAddress);
    return withWidgetClaim(deps, { partnerId, userId }, { quoteId, walletAddress, sessionId }, work);
  };
}

function registerOpening(app: FastifyInstance, deps: WidgetOrderRouteDeps): void {
  route(app, {
    access: 'session',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${SESSION}/orders`,
    operationId: 'openWidgetOrder',
    tag: WIDGET_TAG,
    summary: 'Open an order from a quote, with the customer’s own wallet',
    description:
      'The wallet owns a third of the escrow: on-ramp it is paid, off-ramp it pays and is refunded.',
    body: WidgetOrderInput,
    data: WidgetOrderSchema,
    errors: [
      'EMAIL_NOT_CONFIRMED',
      'QUOTE_NOT_FOUND',
      'QUOTE_EXPIRED',
      'QUOTE_ALREADY_USED',
      'KYC_NOT_CLEARED',
      'RECIPIENT_NOT_CLEARED',
      'WALLET_NOT_CLEARED',
      'WALLET_NOT_ALLOWED',
      'SENDER_IDENTITY_REQUIRED',
      'NO_OFFERS_AVAILABLE',
      'OPEN_ORDER_LIMIT',
      'TRANSACTOR_UNAVAILABLE',
    ],
    acquire: claimingInSession(deps),
    handle: async ({ body }, session, unit, claimed) => {
      const { start } = await readSessionBy(unit, session);
      const order = await openWidgetOrder(deps, unit, claimed, {
        quote_id: body.quote_id,
        ...(start.reference_id === undefined ? {} : { reference_id: start.reference_id }),
      });
      await queueOrderMail(deps, unit, session, order.order_id);
      return widgetOrderView(deps, unit.tx, order);
    },
  });
}

function registerReads(app: FastifyInstance, deps: WidgetOrderRouteDeps): void {
  route(app, {
    access: 'session',
    transaction: 'none',
    method: 'GET',
    url: `${SESSION}/orders`,
    operationId: 'listWidgetOrders',
    tag: WIDGET_TAG,
    summary: 'List the customer’s own orders of the widget, newest first',
    data: WidgetOrderListSchema,
    errors: ['EMAIL_NOT_CONFIRMED'],
    handle: async (_input, session) => {
      const orders = await customerOrders(deps.db, session.partnerId, customerOf(session));
      return { orders: orders.map(orderSummary) };
    },
  });

  route(app, {
    access: 'session',
    transaction: 'none',
    method: 'GET',
    url: ORDER,
    operationId: 'getWidgetOrder',
    tag: WIDGET_TAG,
    summary: 'Get an order of the customer’s',
    params: OrderParams,
    data: WidgetOrderSchema,
    errors: ['EMAIL_NOT_CONFIRMED', 'ORDER_NOT_FOUND', 'INVALID_ORDER_ID'],
    handle: ({ params }, session) => readWidgetOrder(deps, session, params.order_id),
  });

  route(app, {
    access: 'session',
    transaction: 'none',
    method: 'GET',
    url: `${ORDER}/funding`,
    operationId: 'getWidgetOrderFunding',
    tag: WIDGET_TAG,
    summary: 'Get what the customer’s wallet has, has to allow first, and may trust',
    params: OrderParams,
    data: WidgetFundingSchema,
    errors: [
      'EMAIL_NOT_CONFIRMED',
      'ORDER_NOT_FOUND',
      'INVALID_ORDER_ID',
      'OPERATION_NOT_ALLOWED',
      'TRANSACTOR_UNAVAILABLE',
    ],
    handle: ({ params }, session) => readFunding(deps, customerCaller(session), params.order_id),
  });
}

/** In the customer's own scope; a session without one is told to confirm an address first. */
export function customerCaller(session: SessionPrincipal) {
  customerOf(session);
  return callerOf(session);
}

export async function readWidgetOrder(
  deps: WidgetOrderRouteDeps,
  session: SessionPrincipal,
  orderId: string,
): Promise<Static<typeof WidgetOrderSchema>> {
  const { scope } = customerCaller(session);
  const order = await readOrder(deps.db, scope, orderId);
  if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  return widgetOrderView(deps, reading(deps.db, scope), order);
}

interface OrderAction<B extends TSchema, Seen> {
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly body?: B;
  readonly errors?: readonly ErrorCode[];
  readonly readFirst?: (input: RouteInput<typeof OrderParams, TSchema, B>) => Promise<Seen>;
  readonly act: (unit: UnitOfWork, orderId: string, body: Static<B>, seen: Seen) => Promise<OrderRow>;
}

/** What a customer does with its order: in its own scope, answered with the whole order. */
export function orderAction<B extends TSchema, Seen = undefined>(
  app: FastifyInstance,
  deps: WidgetOrderRouteDeps,
  { name, operationId, summary, body, errors = [], readFirst, act }: OrderAction<B, Seen>,
): void {
  route<'session', 'unit', typeof OrderParams, TSchema, B, typeof WidgetOrderSchema, Seen>(app, {
    access: 'session',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${ORDER}/${name}`,
    operationId,
    tag: WIDGET_TAG,
    summary,
    params: OrderParams,
    requireSubject: requireOrder(deps),
    ...(body === undefined ? {} : { body }),
    data: WidgetOrderSchema,
    errors: [
      'EMAIL_NOT_CONFIRMED',
      'ORDER_NOT_FOUND',
      'INVALID_ORDER_ID',
      'INVALID_STATUS',
      'OPERATION_NOT_ALLOWED',
      ...errors,
    ],
    ...(readFirst === undefined ? {} : { readFirst }),
    handle: async (input, session, unit, seen) => {
      customerOf(session);
      return widgetOrderView(deps, unit.tx, await act(unit, input.params.order_id, input.body, seen));
    },
  });
}

function registerPaymentActions(app: FastifyInstance, deps: WidgetOrderRouteDeps): void {
  const { orderAdapters: adapters } = deps;
  orderAction(app, deps, {
    name: 'cancel',
    operationId: 'cancelWidgetOrder',
    summary: 'Cancel an order',
    body: CancelOrderInput,
    act: async (unit, orderId, body) => {
      const order = await actOnOrder(unit, adapters, orderId, 'cancelled_by_partner', 'customer');
      if (body?.reason !== undefined) keepStopReason(unit, deps.sealer, order, body.reason);
      return order;
    },
  });
  orderAction(app, deps, {
    name: 'confirm-payment-sent',
    operationId: 'confirmPaymentSentInWidget',
    summary: 'Say that the fiat was sent',
    act: (unit, orderId) => actOnOrder(unit, adapters, orderId, 'payment_sent_confirmed', 'customer'),
  });
  orderAction(app, deps, {
    name: 'confirm-fiat-received',
    operationId: 'confirmFiatReceivedInWidget',
    summary: 'Say that the fiat has arrived',
    act: (unit, orderId) =>
      actOnOrder(unit, adapters, orderId, 'fiat_received_confirmed_by_partner', 'customer'),
  });
  orderAction(app, deps, {
    name: 'submit-payer-details',
    operationId: 'submitPayerDetailsInWidget',
    summary: 'Say whom the vendor asks for the payment',
    body: PayerDetailsInput,
    errors: [
      'INVALID_PAYER_DETAILS',
      'PAYMENT_DETAILS_NOT_FOUND',
      'RECIPIENT_NOT_CLEARED',
      'SERVICE_UNAVAILABLE',
    ],
    readFirst: ({ body }) => screenPayer(deps, body),
    act: (unit, orderId, body, screenings) =>
      submitPayerDetails(deps, unit, orderId, body, screenings, 'customer'),
  });
}
