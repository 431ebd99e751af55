import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { findBrowser, launchBrowser, NO_BROWSER, thisMachine } from '../harness/browser.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { startWebhookSink, type WebhookSink } from '../harness/webhook-sink.ts';
import { embedded, hosted, type WidgetDriver } from '../harness/widget-driver.ts';
import { type EmbeddedWidget, type HostPages, serveHostPages } from '../harness/widget-pages.ts';
import { type InjectedWallet, injectWallet } from '../harness/widget-wallet.ts';

export const foundBrowser = findBrowser(thisMachine());

/** A browser tab with the widget in it, and what went wrong there. */
export interface OpenWidget {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly widget: WidgetDriver;
  /** Errors of scripts, and what a policy forbade. */
  readonly complaints: readonly string[];
  readonly requests: readonly Request[];
}

export interface OpenOptions {
  readonly embed?: EmbeddedWidget;
  readonly context?: BrowserContext;
  readonly browser?: BrowserContextOptions;
}

/** A gateway, a browser, a shop on another origin and the partner’s receiver of webhooks. What a test opens is closed with it. */
export interface WidgetFixture {
  readonly gateway: TestGateway;
  readonly browser: Browser;
  readonly shop: HostPages;
  readonly sink: WebhookSink;
  readonly chain: { readonly chainId: number; readonly rpcUrl: string };
  open(options?: OpenOptions): Promise<OpenWidget>;
  /** The hosted page, or any other address of the gateway. */
  openHosted(address: string, options?: OpenOptions): Promise<OpenWidget>;
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  wallet(context: BrowserContext): Promise<InjectedWallet>;
  fund(address: string, usdc: string): Promise<void>;
  /** A customer of the partner’s who may trade already. */
  verifiedEmail(): Promise<string>;
  userOf(email: string): Promise<{ readonly id: string }>;
  /** The statuses that the partner was told of this order, in order of arrival. */
  toldOf(orderId: string): readonly string[];
  close(): Promise<void>;
}

const CHAIN = 'base-mainnet';
let customers = 0;

export function newEmail(): string {
  return `customer-${process.pid}-${++customers}@example.com`;
}

export async function startWidgetFixture(options: GatewayOptions = { chains: true }): Promise<WidgetFixture> {
  if (foundBrowser === undefined) throw new Error(NO_BROWSER);
  const [gateway, browser] = await Promise.all([startGateway(options), launchBrowser(foundBrowser)]);
  const { settings } = gateway.deps.chains.get(CHAIN);
  const chain = { chainId: settings.chainId, rpcUrl: settings.rpcUrl };
  const [partner] = gateway.partners;
  const shop = await serveHostPages(gateway.baseUrl, partner.widgetKey);
  const sink = await startWebhookSink({ tls: false, secret: partner.webhookSecret });
  await gateway.sdk().webhooks.set({ url: sink.url });

  async function newContext(given: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...given });
    // A page that stays open goes on asking for its order through all the tests after it.
    onTestFinished(() => context.close());
    return context;
  }

  async function visit(
    address: string,
    { context: given, browser: browserOptions }: OpenOptions,
    find: (page: Page) => WidgetDriver,
  ): Promise<OpenWidget> {
    const context = given ?? (await newContext(browserOptions));
    const page = await context.newPage();
    const complaints: string[] = [];
    const requests: Request[] = [];
    page.on('request', (request) => requests.push(request));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(address);
    return { context, page, widget: find(page), complaints, requests };
  }

  return {
    gateway,
    browser,
    shop,
    sink,
    chain,
    newContext,
    open: (given = {}) => visit(shop.page(given.embed ?? { by: 'script' }), given, embedded),
    openHosted: (address, given = {}) => visit(address, given, hosted),
    wallet: (context) => injectWallet(context, chain),

    async fund(address, usdc) {
      const { sandbox } = gateway.sdk();
      await sandbox.faucet({ chain: CHAIN, token: 'USDC', address, amount: usdc });
      await sandbox.faucet({ chain: CHAIN, token: 'native', address, amount: '1' });
    },

    async verifiedEmail() {
      const email = newEmail();
      const { users, sandbox } = gateway.sdk();
      const { id } = await users.create({ email, first_name: 'Ada', last_name: 'Lovelace' });
      await sandbox.kycStatus(id, { status: 'VERIFIED' });
      return email;
    },

    async userOf(email) {
      for await (const user of gateway.sdk().users.list()) if (user.email === email) return user;
      throw new Error(`there is no customer ${email}`);
    },

    toldOf: (orderId) =>
      sink.received.flatMap(({ event, attempt }) =>
        attempt === 1 && event?.event_type === 'order.status.changed' && event.data.order_id === orderId
          ? [String(event.data.status)]
          : [],
      ),

    async close() {
      await browser.close();
      await shop.close();
      await gateway.stop();
      await sink.close();
    },
  };
}

const statusOf = statement<[orderId: string], { status: string }>(
  'test.widget_order_status',
  'SELECT status FROM orders WHERE order_id = $1',
);

/** Waits until the order itself is there, whatever the screen shows. */
export function orderReaches({ deps }: TestGateway, orderId: string, status: string): Promise<true> {
  return until(`order in ${status}`, async () => {
    const [row] = await deps.db.query(SYSTEM, statusOf, [orderId]);
    return row?.status === status;
  });
}
