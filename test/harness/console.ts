import type { Desk } from '@causeway/protocol/console';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { seriousFindings } from './axe.ts';
import { findBrowser, launchBrowser, NO_BROWSER, thisMachine } from './browser.ts';
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts';

/** A gateway and a browser for tests of the console. Everything the pages complain of is collected. */
export interface ConsoleGround {
  readonly gateway: TestGateway;
  readonly browser: Browser;
  /** Errors of pages and of their policy; a test ends with none. */
  readonly complaints: string[];
  /** A browser of its own, signed in by one click of the sandbox, at the first page of the desk. */
  enter(desk: Desk, options?: BrowserContextOptions & { readonly email?: string }): Promise<ConsoleTab>;
  /** A browser of its own in which nobody is signed in. */
  open(path: string, options?: BrowserContextOptions): Promise<ConsoleTab>;
  stop(): Promise<void>;
}

export interface ConsoleTab {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens a page of the console: `/partner/orders`. */
  goto(path: string): Promise<void>;
  /** Findings of axe on what is shown, of those that keep somebody out. */
  seriousFindings(): Promise<readonly string[]>;
}

/** Two browsers on two cores are slow at times. */
const SLOWEST_MS = 60_000;

export const consoleBrowser = findBrowser(thisMachine());

export async function startConsole(options: GatewayOptions = {}): Promise<ConsoleGround> {
  if (consoleBrowser === undefined) throw new Error(NO_BROWSER);
  const [gateway, browser] = await Promise.all([startGateway(options), launchBrowser(consoleBrowser)]);
  const complaints: string[] = [];
  const root = `${gateway.baseUrl}/console`;

  async function open(path: string, given: BrowserContextOptions = {}): Promise<ConsoleTab> {
    // Without transitions: a click waits until what it is for stands still.
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      reducedMotion: 'reduce',
      ...given,
    });
    context.setDefaultTimeout(SLOWEST_MS);
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // A refusal that a page shows is also told here by the browser.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        complaints.push(message.text());
      }
    });
    await page.goto(root + path);
    return {
      page,
      context,
      goto: async (to) => {
        await page.goto(root + to);
      },
      seriousFindings: () => seriousFindings(page),
    };
  }

  return {
    gateway,
    browser,
    complaints,
    open,
    async enter(desk, { email, ...given } = {}) {
      const tab = await open('/sign-in', given);
      const button = `[data-testid="enter-${desk}"]${email === undefined ? '' : `[data-email="${email}"]`}`;
      await tab.page.locator(button).first().click();
      await tab.page.locator(`[data-testid="desk"][data-desk="${desk}"]`).waitFor({ state: 'attached' });
      return tab;
    },
    async stop() {
      await browser.close();
      await gateway.stop();
    },
  };
}
