import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from '../harness/axe.ts';
import { hosted } from '../harness/widget-driver.ts';
import { simulate, type Walk, walkOfframp, walkOnramp, withoutPrograms } from '../harness/widget-walk.ts';
import { foundBrowser, newEmail, startWidgetFixture, type WidgetFixture } from './widget-fixture.ts';

const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const NARROW = { width: 320, height: 800 };

// `npm test` tells why there is none, and installs one where it may.
describe.skipIf(foundBrowser === undefined)('the widget for everyone', () => {
  let fixture: WidgetFixture;

  beforeAll(async () => {
    fixture = await startWidgetFixture();
    await simulate({ sdk: fixture.gateway.sdk() }, false);
    await withoutPrograms(fixture.gateway.sdk(fixture.gateway.sandbox.operatorKey));
  });
  afterAll(() => fixture?.close());

  const checkout = (settings: Readonly<Record<string, string>>) =>
    `${fixture.gateway.baseUrl}/widget/checkout?${new URLSearchParams({ key: fixture.gateway.partners[0].widgetKey, ...settings })}`;

  /** Opens the hosted page at 320 pixels, and looks at each screen in both themes. */
  async function walkAt(settings: Readonly<Record<string, string>>, email: string) {
    // axe brings code of its own, which the page’s policy would refuse.
    const context = await fixture.newContext({ viewport: NARROW, bypassCSP: true });
    const wallet = await fixture.wallet(context);
    const page = await context.newPage();
    await page.goto(checkout(settings));
    const seen: string[] = [];
    const look = async (name: string) => {
      seen.push(name);
      await page.emulateMedia({ colorScheme: 'light' });
      expect(await seriousFindings(page), `${name}, light`).toEqual([]);
      // Nothing but colours differs.
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await seriousFindings(page, ['color-contrast']), `${name}, dark`).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBe(NARROW.width);
    };
    const walk: Walk = { sdk: fixture.gateway.sdk(), widget: hosted(page), email, look };
    return { walk, wallet, seen, page };
  }

  const EUROS = { fiatCurrency: 'EUR', country: 'DE', amount: '100.00' };

  it('has no serious finding and nothing that scrolls sideways on any screen of a purchase', async () => {
    const { walk, seen } = await walkAt({ ...EUROS, side: 'onramp' }, newEmail());
    await walkOnramp(walk, WALLET);
    expect(seen).toHaveLength(12);
  });

  it('has none on any screen of a sale either, in Arabic', async () => {
    const { walk, wallet, seen, page } = await walkAt(
      { ...EUROS, side: 'offramp', locale: 'ar' },
      await fixture.verifiedEmail(),
    );
    await fixture.fund(wallet.address, '1000');
    await walkOfframp(walk, wallet);
    expect(seen).toHaveLength(7);
    expect(await page.evaluate('document.documentElement.dir')).toBe('rtl');
  });

  it('is used to the review with the keyboard alone', async () => {
    const page = await (await fixture.newContext({ viewport: NARROW })).newPage();
    await page.goto(`${checkout({ ...EUROS, side: 'onramp', amount: '' })}#wallet=${WALLET}`);
    const widget = hosted(page);
    const email = await fixture.verifiedEmail();
    const focused = () => page.evaluate<string>('document.activeElement?.dataset.testid ?? ""');
    const tabTo = async (testId: string) => {
      for (let presses = 0; presses < 40; presses++) {
        if ((await focused()) === testId) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`${testId} is not reached by Tab; the focus is at ${await focused()}`);
    };
    await widget.step('amount');
    await tabTo('amount-fiat');
    await page.keyboard.type('100');
    await widget.by('estimate').waitFor();
    await tabTo('continue');
    await page.keyboard.press('Enter');
    await widget.step('identify');
    await tabTo('email');
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    const code = /\d{6}/.exec((await widget.by('sandbox-code').textContent()) ?? '')?.[0] ?? '';
    await tabTo('code');
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
    await widget.step('destination');
    await tabTo('continue');
    await page.keyboard.press('Enter');
    await widget.step('review');
    await widget.by('confirm-order').waitFor();
    await tabTo('confirm-order');
  });

  it('has the browser’s Back on its own page: step by step, past what is not asked again, and out of the first', async () => {
    const page = await (await fixture.newContext({ viewport: NARROW })).newPage();
    const before = `${fixture.gateway.baseUrl}/health`;
    await page.goto(before);
    await page.goto(`${checkout({ ...EUROS, side: 'onramp', amount: '60' })}#wallet=${WALLET}`);
    const widget = hosted(page);
    const toReview = async () => {
      await widget.step('destination');
      await widget.by('continue').click();
      await widget.step('review');
    };
    await widget.amount({ rail: 'iban-sepa' });
    await widget.identify(await fixture.verifiedEmail());
    await toReview();
    await page.goBack();
    await widget.step('destination');
    await toReview();
    await page.reload();
    await widget.step('review');
    await page.goBack();
    await widget.step('destination');
    // Forward would leave steps out.
    await page.goForward();
    await widget.step('destination');
    await page.goBack();
    await widget.step('amount');
    expect(await widget.by('amount-fiat').inputValue()).toBe('60');

    await widget.by('continue').click();
    await toReview();
    await widget.by('back').click();
    await widget.by('back').click();
    await widget.step('amount');
    await page.goBack();
    await page.waitForURL(before);
  });
});
