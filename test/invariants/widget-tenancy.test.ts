import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../harness/call.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { type WidgetCustomer, widgetCustomer, widgetSession } from '../harness/widget.ts';
import { type DescribedRoute, describedRoutes, fillPath, sampleOf } from './described-routes.ts';
import { BODIES } from './id-factories.ts';

/** What a session may do before it knows its customer. */
const WITHOUT_CUSTOMER = [
  'estimateInWidget',
  'getWidgetSession',
  'identifyInWidgetSession',
  'requestWidgetEmailCode',
  'signOutOfWidgetSession',
];
const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const PAIR = { crypto_currency: 'USDC', fiat_currency: 'EUR', fiat_amount: '100.00' };
const SESSION = '/api/v1/widget/session';

describe('tenancy of every route of a widget session', () => {
  let gateway: TestGateway;
  let routes: DescribedRoute[];
  let ada: Owner;
  /** Another customer of the same partner, and one of another partner. */
  let grace: Owner;
  let theirs: Owner;

  beforeAll(async () => {
    gateway = await startGateway();
    routes = (await describedRoutes(gateway)).filter(({ access }) => access === 'session');
    [ada, grace, theirs] = [await owner(0), await owner(0), await owner(1)];
  });
  afterAll(() => gateway?.stop());

  interface Owner {
    readonly session: WidgetCustomer;
    readonly orderId: string;
    readonly quoteId: string;
    readonly paymentDetailsId: number;
    /** Which the partner’s own server opened for the same person. */
    readonly partnersOrderId: string;
  }

  async function owner(partner: 0 | 1): Promise<Owner> {
    const session = await widgetCustomer(gateway, undefined, partner);
    const api = gateway.as(gateway.partners[partner].apiKey);
    const [user] = (await api.users.list({ email: session.email })).body.data.users;
    const user_uuid = user?.id ?? '';
    await api.sandbox.kycStatus(user_uuid, { status: 'VERIFIED' });
    const saved = await session.ask('POST', '/payment-details', BODIES.createPaymentDetails);
    const quote = async () =>
      (await session.ask('POST', '/quotes', { side: 'onramp', ...PAIR })).body.data.quote_id as string;
    const opened = await session.ask('POST', '/orders', { quote_id: await quote(), wallet_address: WALLET });
    expect(opened.status, opened.text).toBe(200);
    const { quote_id } = (await api.onramp.quote({ user_uuid, ...PAIR })).body.data;
    const { order_id: partnersOrderId } = (await api.onramp.initiate({ quote_id })).body.data;
    return {
      session,
      orderId: opened.body.data.order_id,
      quoteId: await quote(),
      paymentDetailsId: saved.body.data.id,
      partnersOrderId,
    };
  }

  const send = (route: DescribedRoute, session: WidgetCustomer, orderId: string, body?: object) =>
    session.ask(
      route.method,
      fillPath(route.path, { order_id: orderId }).slice(SESSION.length),
      route.bodySchema === undefined
        ? undefined
        : (body ?? BODIES[route.operationId] ?? sampleOf(route.bodySchema)),
    );
  const said = ({ status, text }: Answer) => `${status} ${text}`;

  it('nothing of a customer’s is done by a session that does not know its customer', async () => {
    const session = await widgetSession(gateway);
    for (const route of routes.filter(({ operationId }) => !WITHOUT_CUSTOMER.includes(operationId))) {
      // A request that does not fit is told so, or that it needs a customer first; either way nothing is done.
      const { status, body } = await send(route, session, ada.orderId);
      expect([route.operationId, [400, 403].includes(status)]).toEqual([route.operationId, true]);
      if (status === 403)
        expect([route.operationId, body.error.code]).toEqual([route.operationId, 'EMAIL_NOT_CONFIRMED']);
    }
    const bodiless = routes.filter(
      ({ operationId, bodySchema }) => bodySchema === undefined && !WITHOUT_CUSTOMER.includes(operationId),
    );
    expect(bodiless.length).toBeGreaterThan(5);
    for (const route of bodiless) {
      const { status, body } = await send(route, session, ada.orderId);
      expect([route.operationId, status, body.error.code]).toEqual([
        route.operationId,
        403,
        'EMAIL_NOT_CONFIRMED',
      ]);
    }
  });

  it('another customer’s order, another partner’s and the partner’s own are answered as unknown ones', async () => {
    const ofOrders = routes.filter(({ parameters }) => parameters.some(({ name }) => name === 'order_id'));
    expect(ofOrders.length).toBeGreaterThan(8);
    const before = (await grace.session.ask('GET', `/orders/${grace.orderId}`)).body.data;
    for (const route of ofOrders) {
      const unknown = said(await send(route, ada.session, randomUUID()));
      expect(`${route.operationId}: ${unknown}`).toContain(`${route.operationId}: 404 `);
      for (const orderId of [grace.orderId, theirs.orderId, ada.partnersOrderId]) {
        const answer = said(await send(route, ada.session, orderId));
        expect(`${route.operationId}: ${answer}`).toBe(`${route.operationId}: ${unknown}`);
      }
    }
    const after = (await grace.session.ask('GET', `/orders/${grace.orderId}`)).body.data;
    expect({ ...after, server_time: '' }).toEqual({ ...before, server_time: '' });
    // One’s own is found, so that the refusals above say something.
    expect((await ada.session.ask('GET', `/orders/${ada.orderId}`)).status).toBe(200);
  });

  it('another customer’s quote and account are answered as unknown ones', async () => {
    const open = (quoteId: string) =>
      ada.session.ask('POST', '/orders', { quote_id: quoteId, wallet_address: WALLET });
    const sell = (paymentDetailsId: number) =>
      ada.session.ask('POST', '/quotes', {
        side: 'offramp',
        ...PAIR,
        payment_details_id: paymentDetailsId,
      });
    const noQuote = said(await open(randomUUID()));
    const noAccount = said(await sell(2 ** 40));
    expect([noQuote.slice(0, 4), noAccount.slice(0, 4)]).toEqual(['404 ', '404 ']);
    for (const other of [grace, theirs]) {
      expect(said(await open(other.quoteId))).toBe(noQuote);
      expect(said(await sell(other.paymentDetailsId))).toBe(noAccount);
    }
    expect((await open(ada.quoteId)).status).toBe(200);
    expect((await sell(ada.paymentDetailsId)).status).toBe(200);
  });

  it('a customer’s lists hold its own alone', async () => {
    const ids = async ({ session }: Owner) =>
      (await session.ask('GET', '/orders')).body.data.orders.map(
        ({ order_id }: { order_id: string }) => order_id,
      );
    expect(await ids(grace)).toEqual([grace.orderId]);
    expect(await ids(ada)).toContain(ada.orderId);
    expect(await ids(ada)).not.toContain(ada.partnersOrderId);
    const shown = (await ada.session.ask('GET', '')).text;
    for (const id of [grace.orderId, theirs.orderId, ada.partnersOrderId]) expect(shown).not.toContain(id);
  });
});
